// The decoder of bench/llm/decoder.h in double precision on the host, token by token, from the same seed: the reference
// for its kernels. For small shapes.
#pragma once

#include <vector>

#include "bench/llm/decoder_shape.h"

namespace gvb {

class DecoderReference {
 public:
  DecoderReference(const DecoderShape& shape, uint64_t seed);

  // The logits after `token`, which follows the sequence's tokens so far.
  std::vector<double> next(unsigned token);

 private:
  using Values = std::vector<double>;

  // The keys and values of a layer so far, by position.
  struct Cache {
    std::vector<Values> keys, values;
  };

  Values weights(uint64_t place, uint64_t count) const;
  Values normalised(uint64_t gain) const;
  Values product(uint64_t matrix, const Values& x, unsigned rows) const;
  void turn(double* head) const;
  Values attended(const Values& qkv, Cache* cache) const;
  Values mlp(const Values& gate_up) const;
  void add(const Values& delta, float scale);

  const DecoderShape shape_;
  const WeightPlaces places_;
  const DecoderScales scales_;
  const Values all_;
  std::vector<Cache> caches_;
  Values residual_;
  unsigned position_ = 0;
};

}  // namespace gvb
