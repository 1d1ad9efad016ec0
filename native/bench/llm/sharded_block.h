// The matrix products of a transformer block, whole on one GPU or sharded over several (Shoeybi et al., Megatron-LM,
// arXiv 1909.08053, section 3): value and output projection of attention, then up and down projection of the MLP. The
// first of each pair is split by columns of its output, the second by rows of its input; the ranks then hold partial
// sums, which an all-reduce adds up. In bf16; operations other than matrix products are left out.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/block_counter.h"
#include "bench/llm/gemm.h"
#include "bench/nccl/ranks.h"

namespace gvb {

struct BlockShape {
  unsigned tokens, hidden, mlp;
};

struct Shard {
  unsigned ranks, rank;
};

// Numbers at sampled places of the block's two results.
struct ShardSample {
  unsigned elements = 0;      // elements of products compared with double precision
  double worst_allowed = 0;   // the largest difference, relative to the allowed rounding error
  std::vector<double> parts;  // before the all-reduce: one rank's partial sums, or the result if there is one rank
  std::vector<double> sums;   // after it
};

class ShardedBlock {
 public:
  static uint64_t bytes(const BlockShape& shape, const Shard& shard);

  ShardedBlock(DeviceSession& session, const BlockShape& shape, const Shard& shard, uint64_t seed);

  const char* variant() const { return products_.front().gemm->variant(); }
  double flops() const;
  uint64_t weight_bytes() const;
  // What a step's all-reduces add up.
  uint64_t reduced_bytes() const;

  // Clears what earlier steps left.
  void poison() const;
  // Returns NCCL's error; empty: none.
  std::string step(const Ranks& ranks, abi::CUstream stream);
  std::string reduce(const Ranks& ranks, abi::CUstream stream) const;
  // Throws kInvalidResult if products of the steps so far did not run.
  void check_steps() const { counter_.check(launched_, "cuLaunchKernel"); }

  ShardSample sample(uint64_t seed) const;

 private:
  struct Product {
    GemmShape shape;
    std::unique_ptr<Gemm> gemm;
    Gemm::Operands operands;
  };

  void add_product(DeviceSession& session, const GemmShape& shape, const Gemm::Operands& operands);
  void fill(DeviceSession& session, uint64_t seed) const;
  Ranks::Numbers reduction(size_t pair) const;
  bool whole() const { return shard_.ranks == 1; }
  uint64_t activations() const { return uint64_t{shape_.tokens} * shape_.hidden; }

  const Cuda& cuda_;
  const BlockShape shape_;
  const Shard shard_;
  // Attention or the MLP.
  struct Pair {
    unsigned inner;                   // columns of the shard's intermediate activations
    DeviceMemory first, second;       // weights
    DeviceMemory between, part, sum;  // for a whole block `sum` is `part`, and its own memory is not used
  };
  const DeviceMemory input_;
  std::vector<Pair> pairs_;
  std::vector<Product> products_;
  const BlockCounter counter_;
  uint64_t launched_ = 0;
};

}  // namespace gvb
