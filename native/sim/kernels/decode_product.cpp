#include "sim/kernels/decode_product.h"

#include <algorithm>
#include <cmath>

#include "sim/work/host_arithmetic.h"

namespace gvb::sim {
namespace {

std::vector<float> widened(uint64_t halves, size_t first, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = decode<F16>(at<uint16_t>(halves)[first + i]);
  return values;
}

struct Product {
  uint64_t x, residual, delta, gain, sum, normalised, weights, y;
  float delta_scale, out_scale;
  size_t m, n, k;
  bool gated;

  std::vector<float> normed(size_t token) const {
    std::vector<float> values(at<float>(residual) + token * k, at<float>(residual) + (token + 1) * k);
    float squares = 0;
    for (size_t i = 0; i < k; ++i) {
      if (delta != 0) values[i] += delta_scale * decode<F16>(at<uint16_t>(delta)[token * k + i]);
      squares += values[i] * values[i];
    }
    if (delta != 0) std::copy(values.begin(), values.end(), at<float>(sum) + token * k);
    const float factor = out_scale / std::sqrt(squares / static_cast<float>(k) + 1e-5f);
    for (size_t i = 0; i < k; ++i) {
      const uint16_t half = half_of(values[i] * factor * decode<F16>(at<uint16_t>(gain)[i]));
      if (normalised != 0) at<uint16_t>(normalised)[token * k + i] = half;
      values[i] = decode<F16>(half);
    }
    return values;
  }

  // k is a multiple of 32.
  float row(const std::vector<float>& input, size_t index) const {
    return dot(input.data(), widened(weights, index * k, k).data(), k);
  }

  void run() const {
    const size_t columns = gated ? n / 2 : n;
    for (size_t token = 0; token < m; ++token) {
      const std::vector<float> input = x != 0 ? widened(x, token * k, k) : normed(token);
      for (size_t column = 0; column < columns; ++column) {
        float value = row(input, column);
        if (gated) value = value / (1 + std::exp(-value)) * row(input, columns + column);
        at<uint16_t>(y)[token * columns + column] = half_of(value);
      }
    }
  }

  std::vector<Span> touches() const {
    const size_t halves = m * k * 2, floats = m * k * sizeof(float);
    std::vector<Span> spans = {{weights, n * k * 2, 16, Access::kRead},
                               {y, m * (gated ? n / 2 : n) * 2, 2, Access::kWrite}};
    if (x != 0) {
      spans.push_back({x, halves, 16, Access::kRead});
      return spans;
    }
    spans.push_back({residual, floats, 16, Access::kRead});
    spans.push_back({gain, k * 2, 16, Access::kRead});
    if (delta != 0) {
      spans.push_back({delta, halves, 16, Access::kRead});
      spans.push_back({sum, floats, 16, Access::kWrite});
    }
    if (normalised != 0) spans.push_back({normalised, halves, 16, Access::kWrite});
    return spans;
  }
};

}  // namespace

Plan plan_decode_product(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  Product of{};
  uint64_t* const pointers[] = {&of.x, &of.residual, &of.delta, &of.gain, &of.sum, &of.normalised, &of.weights, &of.y};
  for (size_t i = 0; i < 8; ++i) *pointers[i] = arguments.get<uint64_t>(i);
  const auto counter = arguments.get<uint64_t>(8);
  of.delta_scale = arguments.get<float>(9);
  of.out_scale = arguments.get<float>(10);
  of.m = arguments.get<unsigned>(11);
  of.n = arguments.get<unsigned>(12);
  of.k = arguments.get<unsigned>(13);
  of.gated = arguments.get<unsigned>(14) != 0;
  const double memory_ns = 2.0 * static_cast<double>(of.n * of.k + of.m * (of.n + of.k)) / card.dram_gbs;
  const double sums_ns = 2.0 * static_cast<double>(of.m * of.n * of.k) / (card.tensor_tflops * 1e3);
  Plan plan;
  plan.nanoseconds = std::max(memory_ns, sums_ns);
  plan.demand = demand_of(kDram, memory_ns / plan.nanoseconds);
  plan.touches = of.touches();
  plan.run = [of](const Placement&) { of.run(); };
  if (counter != 0) count_blocks(&plan, counter, geometry);
  return plan;
}

}  // namespace gvb::sim
