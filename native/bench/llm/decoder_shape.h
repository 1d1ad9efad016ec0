// The shape of a synthetic decoder of Llama's architecture, and where each of its weights lies.
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
  // Of one layer's matrices, in values.
  uint64_t layer_values() const { return uint64_t{hidden} * (qkv() + hidden + 3 * uint64_t{mlp} + 2); }
  struct Matrix {
    unsigned n, k;
  };
  // Of queries, keys and values; of what attention puts out; of gate and up; of down.
  std::array<Matrix, 4> layer_products() const {
    return {{{qkv(), hidden}, {hidden, hidden}, {2 * mlp, hidden}, {hidden, mlp}}};
  }
  uint64_t head_values() const { return uint64_t{vocabulary} * hidden; }
  // Read by every step of a decoder: all weights but the table of embeddings, of which a row is read.
  uint64_t streamed_bytes() const { return 2 * (layers * layer_values() + hidden + head_values()); }
  uint64_t weight_values() const { return streamed_bytes() / 2 + head_values(); }
};

// What the kernels cannot do, in words; empty: nothing.
std::string unfit(const DecoderShape& shape);

// Layers of a model's size (those of Llama 3 8B: hidden 4096, four query heads of 128 share one of keys and values, MLP
// 3.5 times as wide), so that a step has as many launches for its time as the model's, and as many of them as make up
// weights of min(limit / 4, 2 GiB); of half the width, again and again, where fewer than two do. Of four L2 caches at
// least: a step has to read its weights from DRAM.
// `limit_bytes` 0: what the device has.
DecoderShape default_decoder(const DeviceSession& session, uint64_t limit_bytes);

// Offsets, in values, into one block of weights: normal_value(seed, offset + i) is the i-th of a matrix.
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

// Weights have a variance of 1. With these factors the activations and the residual stream stay near 1 as well.
struct DecoderScales {
  explicit DecoderScales(const DecoderShape& shape);
  float input;      // of the inputs of a layer's first product, and of the logits'
  float attention;  // of what attention adds to the residual stream
  float mlp;        // of what the MLP adds to it
};

}  // namespace gvb
