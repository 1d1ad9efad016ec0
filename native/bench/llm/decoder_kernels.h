// Launches of the kernels of kernels/decoder.cu.
#pragma once

#include <vector>

#include "bench/device_session.h"
#include "bench/llm/decoder_shape.h"
#include "bench/llm/step_launch.h"

namespace gvb {

// kernels/decoder.cu has the same.
constexpr unsigned kPageTokens = 16;  // of the KV cache
constexpr unsigned kPartAhead = 4;    // numbers in front of the sums of a part of the context

// Which tokens of which sequences the rows of a launch are: row r is at positions[r % per_sequence] of sequence
// first_sequence + r / per_sequence.
struct TokenRows {
  unsigned count;
  unsigned per_sequence;
  unsigned first_sequence;
  abi::CUdeviceptr positions;
};

struct CachePages {
  abi::CUdeviceptr keys, values;  // of one layer
  abi::CUdeviceptr pages;         // of each sequence
  unsigned per_sequence;
};

// As many parts of the context as fill the card, and a page for each warp of a block at least. `blocks`: of each part.
unsigned context_splits(const DeviceSession& session, unsigned blocks, unsigned pages);

struct PageOrder {
  uint64_t count, seed;
};

// The pages of all sequences in random order, as many requests that came and went leave them.
std::vector<unsigned> shuffled_pages(const PageOrder& order);

class DecoderKernels {
 public:
  DecoderKernels(DeviceSession& session, const DecoderShape& shape, abi::CUstream stream);

  struct Embed {
    abi::CUdeviceptr table, tokens, residual;
  };
  void embed(unsigned rows, const Embed& of) const;

  struct Norm {
    abi::CUdeviceptr residual, delta;
    float delta_scale;
    abi::CUdeviceptr gain, out;
  };
  void norm(unsigned rows, const Norm& of) const;

  // Of prompts.
  struct Rope {
    abi::CUdeviceptr qkv, angles, q, keys, values;  // keys and values go to the cache as well
  };
  void rope(const TokenRows& rows, const CachePages& cache, const Rope& of) const;

  // A token of each of `rows` sequences, at one position that lies in device memory.
  struct Attend {
    // Queries, of tokens that the cache has; 0: queries, keys and values lie in qkv as a product leaves them, and the
    // newest keys and values go to the cache.
    abi::CUdeviceptr q, qkv;
    abi::CUdeviceptr angles, position;
    abi::CUdeviceptr partial, arrived;  // arrived: of each row and KV head a word that is 0
    abi::CUdeviceptr out;
    unsigned splits;
  };
  void attend(unsigned rows, const CachePages& cache, const Attend& of) const;

  struct Swiglu {
    abi::CUdeviceptr gate_up, out;
  };
  void swiglu(unsigned rows, const Swiglu& of) const;

  // How many parts of the vocabulary a row's largest logit is looked for in, and what they leave.
  unsigned parts() const;
  static constexpr size_t kCandidateBytes = 16;

  struct Pick {
    abi::CUdeviceptr logits, candidates, tokens, state, words;
    unsigned kept;
  };
  void pick(unsigned rows, unsigned advance, const Pick& of) const;

  const StepLaunch& step_launch() const { return launch_; }
  // gvb_decode_product; null where the device has no code for it.
  abi::CUfunction product() const { return product_; }

 private:
  void launch(abi::CUfunction kernel, const StepLaunch::Grid& grid, void** parameters) const;

  const StepLaunch launch_;
  const DecoderShape shape_;
  const DecoderScales scales_;
  const abi::CUstream stream_;
  abi::CUfunction embed_, norm_, rope_, attention_, swiglu_, pick_, publish_, product_;
};

}  // namespace gvb
