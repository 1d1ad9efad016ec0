// Launches of the kernels of kernels/decoder.cu.
#pragma once

#include <vector>

#include "bench/device_session.h"
#include "bench/llm/decoder_shape.h"
#include "bench/llm/step_launch.h"

namespace gvb {

// Must match kernels/decoder.cu.
constexpr unsigned kPageTokens = 16;  // of the KV cache
constexpr unsigned kPartAhead = 4;    // numbers before the sums of a part of a context

// Maps the rows of a launch to tokens: row r is at positions[r % per_sequence] of sequence first_sequence + r /
// per_sequence.
struct TokenRows {
  unsigned count;
  unsigned per_sequence;
  unsigned first_sequence;
  abi::CUdeviceptr positions;
};

struct CachePages {
  abi::CUdeviceptr keys, values;  // one layer's
  abi::CUdeviceptr pages;         // by sequence
  unsigned per_sequence;
};

// What decode attention divides: the pages of all sequences, and the KV heads, each of which reads them.
struct AttendedPages {
  unsigned sequences, each, kv_heads, dimension;
};

// How many equal parts of the pages: a block for each and for each KV head fills the card, but no warp of a block is
// without a page.
unsigned attention_splits(const DeviceSession& session, const AttendedPages& pages);

// The numbers that kernels/decoder.cu stores of parts of a context. A sequence has at most one part more than an equal
// division of the splits gives it.
size_t partial_bytes(const DecoderShape& shape, unsigned sequences, unsigned splits);

struct PageOrder {
  uint64_t count, seed;
};

// The pages of all sequences in random order, as after many requests.
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

  // For prompts.
  struct Rope {
    abi::CUdeviceptr qkv, angles, q, keys, values;  // keys and values are also written to the cache
  };
  void rope(const TokenRows& rows, const CachePages& cache, const Rope& of) const;

  // One token of each of `rows` sequences, all at one position, which is stored in device memory.
  struct Attend {
    // Queries of tokens whose keys and values are in the cache; 0: qkv holds queries, keys and values as a product
    // leaves them, and the newest keys and values are written to the cache.
    abi::CUdeviceptr q, qkv;
    abi::CUdeviceptr angles, position;
    abi::CUdeviceptr partial, arrived;  // arrived: a zeroed word for each row and KV head
    abi::CUdeviceptr out;
    unsigned splits;
  };
  void attend(unsigned rows, const CachePages& cache, const Attend& of) const;

  struct Swiglu {
    abi::CUdeviceptr gate_up, out;
  };
  void swiglu(unsigned rows, const Swiglu& of) const;

  // The number of vocabulary parts in which a row's largest logit is searched, and the candidates found there.
  unsigned parts() const;
  static constexpr size_t kCandidateBytes = 16;

  struct Pick {
    abi::CUdeviceptr logits, candidates, tokens, state, words;
    unsigned kept;
  };
  void pick(unsigned rows, unsigned advance, const Pick& of) const;

  const StepLaunch& step_launch() const { return launch_; }
  // gvb_decode_product; null if the device has no code for it.
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
