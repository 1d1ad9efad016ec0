#include "bench/llm/decoder_reference.h"

#include <algorithm>
#include <cmath>

#include "base/elementary.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/number_bits.h"

namespace gvb {

namespace {

// Rounded to fp16.
std::vector<double> weights_of(const DecoderShape& shape, uint64_t seed) {
  std::vector<double> values(shape.weight_values());
  for (uint64_t i = 0; i < values.size(); ++i) values[i] = decode<F16>(encode<F16>(normal_value(seed, i)));
  return values;
}

}  // namespace

DecoderReference::DecoderReference(const DecoderShape& shape, uint64_t seed)
    : shape_(shape), places_(shape), scales_(shape), all_(weights_of(shape, seed)), caches_(shape.layers) {}

std::vector<double> DecoderReference::next(unsigned token) {
  residual_ = weights(places_.embedding() + uint64_t{token} * shape_.hidden, shape_.hidden);
  for (unsigned layer = 0; layer < shape_.layers; ++layer) {
    const WeightPlaces::Layer at = places_.layer(layer);
    const Values qkv = product(at.qkv, normalised(at.attention_gain), shape_.qkv());
    add(product(at.output, attended(qkv, &caches_[layer]), shape_.hidden), scales_.attention);
    const Values gate_up = product(at.gate_up, normalised(at.mlp_gain), 2 * shape_.mlp);
    add(product(at.down, mlp(gate_up), shape_.hidden), scales_.mlp);
  }
  ++position_;
  return product(places_.head(), normalised(places_.final_gain()), shape_.vocabulary);
}

std::vector<double> DecoderReference::weights(uint64_t place, uint64_t count) const {
  const auto begin = all_.begin() + static_cast<int64_t>(place);
  return {begin, begin + static_cast<int64_t>(count)};
}

std::vector<double> DecoderReference::normalised(uint64_t gain) const {
  double squares = 0;
  for (const double value : residual_) squares += value * value;
  const double factor = scales_.input / std::sqrt(squares / shape_.hidden + 1e-5);
  Values out = weights(gain, shape_.hidden);
  for (size_t i = 0; i < out.size(); ++i) out[i] *= residual_[i] * factor;
  return out;
}

std::vector<double> DecoderReference::product(uint64_t matrix, const Values& x, unsigned rows) const {
  Values out(rows);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < x.size(); ++i) out[row] += all_[matrix + row * x.size() + i] * x[i];
  return out;
}

void DecoderReference::turn(double* head) const {
  const unsigned half = shape_.dimension() / 2;
  for (unsigned pair = 0; pair < half; ++pair) {
    const double angle = position_ * exponential(logarithm(10000.0) * -2.0 * pair / shape_.dimension());
    const double x = head[pair], y = head[half + pair];
    head[pair] = x * std::cos(angle) - y * std::sin(angle);
    head[half + pair] = y * std::cos(angle) + x * std::sin(angle);
  }
}

std::vector<double> DecoderReference::attended(const Values& qkv, Cache* cache) const {
  const unsigned dimension = shape_.dimension(), group = shape_.heads / shape_.kv_heads;
  Values turned = qkv;
  for (unsigned head = 0; head < shape_.heads + shape_.kv_heads; ++head) turn(&turned[size_t{head} * dimension]);
  const auto values_at = turned.begin() + static_cast<int64_t>(shape_.heads + shape_.kv_heads) * dimension;
  cache->keys.emplace_back(turned.begin() + static_cast<int64_t>(shape_.heads) * dimension, values_at);
  cache->values.emplace_back(values_at, turned.end());
  Values out(shape_.hidden);
  for (unsigned head = 0; head < shape_.heads; ++head) {
    const size_t query = size_t{head} * dimension, of = size_t{head / group} * dimension;
    Values factors;
    double sum = 0;
    for (const Values& key : cache->keys) {
      double score = 0;
      for (unsigned d = 0; d < dimension; ++d) score += turned[query + d] * key[of + d];
      factors.push_back(exponential(score / std::sqrt(dimension)));
      sum += factors.back();
    }
    for (size_t token = 0; token < factors.size(); ++token)
      for (unsigned d = 0; d < dimension; ++d) out[query + d] += factors[token] / sum * cache->values[token][of + d];
  }
  return out;
}

std::vector<double> DecoderReference::mlp(const Values& gate_up) const {
  Values out(shape_.mlp);
  for (unsigned i = 0; i < shape_.mlp; ++i)
    out[i] = gate_up[i] / (1 + exponential(-gate_up[i])) * gate_up[shape_.mlp + i];
  return out;
}

void DecoderReference::add(const Values& delta, float scale) {
  for (size_t i = 0; i < residual_.size(); ++i) residual_[i] += scale * delta[i];
}

}  // namespace gvb
