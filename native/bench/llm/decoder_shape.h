// The shape of a synthetic decoder of Llama's architecture, and the places of its weights.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bench/device_session.h"

namespace gvb {

struct DecoderShape {
  unsigned layers = 0;
  unsigned hidden = 0;
  unsigned heads = 0;
  unsigned kv_heads = 0;
  unsigned mlp = 0;
  unsigned vocabulary = 0;

  unsigned dimension() const { return hidden / heads; }
  unsigned qkv() const { return (heads + 2 * kv_heads) * dimension(); }
  // Values in one layer's matrices.
  uint64_t layer_values() const { return uint64_t{hidden} * (qkv() + hidden + 3 * uint64_t{mlp} + 2); }
  struct Matrix {
    unsigned n, k;
  };
  // The weights for queries, keys and values; for attention's output; for gate and up; for down.
  std::array<Matrix, 4> layer_products() const {
    return {{{qkv(), hidden}, {hidden, hidden}, {2 * mlp, hidden}, {hidden, mlp}}};
  }
  uint64_t head_values() const { return uint64_t{vocabulary} * hidden; }
  // What every step of a decoder reads: all weights except the embedding table, of which it reads one row.
  uint64_t streamed_bytes() const { return 2 * (layers * layer_values() + hidden + head_values()); }
  uint64_t weight_values() const { return streamed_bytes() / 2 + head_values(); }
};

// Why the kernels do not support the shape; empty if they do.
std::string unfit(const DecoderShape& shape);

// Layers of a real model's size (Llama 3 8B: hidden 4096, four query heads of 128 per KV head, an MLP 3.5 times as
// wide), so that a step has a realistic number of launches for its duration. As many layers as make weights of
// min(limit / 4, 2 GiB); if fewer than two fit, the width is halved until they do. At least four L2 caches in total, so
// that a step reads its weights from DRAM. `limit_bytes` 0: the device's memory.
DecoderShape default_decoder(const DeviceSession& session, uint64_t limit_bytes);

// Offsets, in values, into one block of weights: the i-th value of a matrix is normal_value(seed, offset + i).
struct WeightPlaces {
  explicit WeightPlaces(const DecoderShape& of) : shape(of) {}

  struct Layer {
    uint64_t attention_gain, qkv, output, mlp_gain, gate_up, down;
  };
  Layer layer(unsigned index) const;
  uint64_t final_gain() const { return shape.layers * shape.layer_values(); }
  uint64_t head() const { return final_gain() + shape.hidden; }
  uint64_t embedding() const { return head() + shape.head_values(); }

  const DecoderShape shape;
};

// Weights have a variance of 1. These factors keep the activations and the residual stream near 1 too.
struct DecoderScales {
  explicit DecoderScales(const DecoderShape& shape);
  float input;      // inputs of a layer's first product, and of the logits'
  float attention;  // what attention adds to the residual stream
  float mlp;        // what the MLP adds to it
};

}  // namespace gvb
