// Attention forward, out = softmax(q kᵀ / √D) v, with half-precision numbers and single-precision sums: the prefill of
// a prompt.
#pragma once

#include <array>
#include <memory>

#include "bench/device_session.h"
#include "bench/llm/number.h"
#include "kernels/attention_shape.h"

namespace gvb {

struct AttentionShape {
  Number number;                    // kF16 or kBf16, of all operands
  unsigned head_dim;                // 64 or 128
  unsigned batch, heads, kv_heads;  // heads is a multiple of kv_heads, whose keys and values several heads share
  unsigned length;                  // tokens per sequence
  bool causal;                      // a token sees itself and those before it
};

class Attention {
 public:
  // Loads the module of number and head_dim once per session. Throws kFunctionMissing if the device has no kernel for
  // it.
  Attention(DeviceSession& session, const AttentionShape& shape);
  ~Attention();

  const char* variant() const { return variant_; }
  // Multiplications and additions per launch: 4 · D for each visible pair of a query and a key.
  double flops() const;
  // What a launch adds to its counter: a tile of queries of a head each.
  uint64_t tiles() const { return uint64_t{tiles_of_head()} * shape_.heads * shape_.batch; }

  // [batch][token][head][head_dim], 16-byte aligned; k and v have kv_heads.
  struct Operands {
    abi::CUdeviceptr q, k, v, out;
  };
  // `counter`: 8 bytes on the device; every tile of queries that was computed adds 1. 0: not counted. Launches of one
  // object take turns: one stream at a time.
  void launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter = 0);

 private:
  struct Resident;  // what blocks need that stay on their multiprocessors

  unsigned tiles_of_head() const { return (shape_.length + tile_.queries - 1) / tile_.queries; }
  void describe(const Operands& operands);
  void launch(abi::CUstream stream, const std::array<unsigned, 3>& grid, void** parameters) const;

  const Cuda& cuda_;
  const AttentionShape shape_;
  AttentionTile tile_{};
  const char* variant_ = "";
  abi::CUfunction kernel_ = nullptr;
  std::unique_ptr<Resident> resident_;  // null if each block has one tile
};

}  // namespace gvb
