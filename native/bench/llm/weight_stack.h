// Linear layers of a decoding model: a stack of weight matrices, together larger than the L2 cache, and the outputs of
// a batch of sequences. Every layer multiplies the same inputs, so that each can be checked separately.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/block_counter.h"
#include "bench/llm/skinny.h"

namespace gvb {

struct StackShape {
  Number number = Number::kF16;
  // Per layer: W is n × k. 0: 8 192 each, doubled until W is twice the L2 cache.
  unsigned n = 0, k = 0;
  unsigned layers = 0;  // 0: enough for eight times the L2 cache, within a quarter of the free memory
  uint64_t seed = 0;    // for weights and inputs
};

class WeightStack {
 public:
  WeightStack(DeviceSession& session, const StackShape& shape);
  ~WeightStack();
  WeightStack(const WeightStack&) = delete;
  WeightStack& operator=(const WeightStack&) = delete;

  unsigned n() const { return shape_.n; }
  unsigned k() const { return shape_.k; }
  unsigned layers() const { return shape_.layers; }
  // Created at first use.
  const SkinnyGemm& product(unsigned batch);

  void launch(abi::CUstream stream, unsigned batch, unsigned layer);

  // Overwrites the outputs of all batches with a value that no product has.
  void poison();
  // Throws kInvalidResult if launches did not run, or if the outputs of `layer` after a launch with that batch differ
  // from the products that the host computes from the seed. It checks random elements.
  void check(unsigned batch, unsigned layer);
  // Over all outputs of a layer. Equal inputs give equal checksums on every device that runs the same variant.
  std::string checksum(unsigned batch, unsigned layer) const;

 private:
  struct Batch;
  size_t each() const { return bytes_of(shape_.number); }
  abi::CUdeviceptr weights(unsigned layer) const;
  abi::CUdeviceptr outputs(unsigned batch, unsigned layer) const;
  const Batch& prepared(unsigned batch);
  size_t output_bytes(unsigned batch) const { return size_t{batch} * shape_.n * each(); }
  void fill(abi::CUdeviceptr pointer, uint64_t count, uint64_t seed);
  std::vector<uint8_t> read(unsigned batch, unsigned layer) const;
  void check_element(const std::vector<uint8_t>& read, unsigned row, unsigned column, unsigned layer) const;

  DeviceSession& session_;
  const Cuda& cuda_;
  const StackShape shape_;
  const BlockCounter counter_;
  const DeviceMemory x_, w_;
  std::array<std::unique_ptr<Batch>, SkinnyGemm::kMostRows + 1> batches_;
  uint64_t launched_blocks_ = 0;
  std::mt19937_64 random_;
};

// Why the process may not use enough memory for a stack; empty if it may.
std::string no_room_for_stack(const DeviceSession& session, const StackShape& shape);

}  // namespace gvb
