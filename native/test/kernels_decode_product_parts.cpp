// The products of a decode step with their fused operations, against double precision.
#include <cmath>
#include <vector>

#include "bench/llm/normal_value.h"
#include "kernels/decode_product.cuh"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

using gvb::decode_product::kMostStages;
using gvb::decode_product::shared_bytes;

constexpr uint16_t kNanHalf = 0x7e00;

struct Numbers {
  Numbers(size_t count, uint64_t seed) : pieces((count + 7) / 8), halves(reinterpret_cast<uint16_t*>(pieces.data())) {
    for (size_t i = 0; i < count; ++i) gvb::store_number(halves, i, gvb::normal_value(seed, i), gvb::Number::kF16);
  }
  double at(size_t i) const { return gvb::load_number(halves, i, gvb::Number::kF16); }
  std::vector<uint4> pieces;
  uint16_t* halves;
};

struct Case {
  unsigned m, n, k, blocks, stages;
  bool normed, gated;
};

struct Launched {
  std::vector<uint16_t> y;
  std::vector<float4> sum;
  std::vector<uint4> normalised;
  unsigned long long blocks = 0;
};

constexpr float kDeltaScale = 0.5f, kOutScale = 0.125f;

struct Operands {
  explicit Operands(const Case& of)
      : x(size_t{of.m} * of.k, 1), delta(size_t{of.m} * of.k, 2), gain(of.k, 3), w(size_t{of.n} * of.k, 4) {
    residual.resize(size_t{of.m} * of.k / 4);
    for (size_t i = 0; i < residual.size() * 4; ++i) residual_at(i) = gvb::normal_value(5, i);
  }
  float& residual_at(size_t i) { return reinterpret_cast<float*>(residual.data())[i]; }
  Numbers x, delta, gain, w;
  std::vector<float4> residual;
};

Launched launch(const Case& of, Operands& on, uint64_t seed) {
  const unsigned columns = of.gated ? of.n / 2 : of.n;
  Launched out;
  out.y.assign(size_t{of.m} * columns + 16, kNanHalf);
  out.sum.resize(on.residual.size());
  out.normalised.resize(on.x.pieces.size());
  gvb::emulator::run(
      {{of.blocks, 1, 1}, {gvb::decode_product::kThreads, 1, 1}, shared_bytes(of.m, of.k, of.stages), 1, seed}, [&] {
        gvb_decode_product(of.normed ? nullptr : on.x.halves, &on.residual_at(0), on.delta.halves, on.gain.halves,
                           reinterpret_cast<float*>(out.sum.data()), reinterpret_cast<uint16_t*>(out.normalised.data()),
                           on.w.halves, out.y.data(), &out.blocks, kDeltaScale, kOutScale, of.m, of.n, of.k, of.gated,
                           of.stages);
      });
  return out;
}

// The input of the product with the kernel's rounding.
std::vector<double> input_of(const Case& of, Operands& on, const Launched& launched) {
  std::vector<double> input(size_t{of.m} * of.k);
  for (size_t i = 0; i < input.size(); ++i) input[i] = on.x.at(i);
  if (!of.normed) return input;
  for (unsigned token = 0; token < of.m; ++token) {
    double squares = 0;
    for (unsigned i = 0; i < of.k; ++i) {
      const size_t at = size_t{token} * of.k + i;
      const double sum = on.residual_at(at) + double{kDeltaScale} * on.delta.at(at);
      CHECK_NEAR(reinterpret_cast<const float*>(launched.sum.data())[at], sum, 1e-5);
      input[at] = sum * on.gain.at(i);
      squares += sum * sum;
    }
    for (unsigned i = 0; i < of.k; ++i) {
      const size_t at = size_t{token} * of.k + i;
      const double rounded = gvb::load_number(launched.normalised.data(), at, gvb::Number::kF16);
      CHECK_NEAR(rounded, input[at] * kOutScale / std::sqrt(squares / of.k + 1e-5), 2e-3);
      input[at] = rounded;
    }
  }
  return input;
}

void test_case(const Case& of) {
  Operands on(of);
  const Launched one = launch(of, on, 1), other = launch(of, on, 2);
  CHECK(one.y == other.y);
  CHECK_EQUAL(one.blocks, of.blocks);
  const std::vector<double> input = input_of(of, on, one);
  const auto product = [&](unsigned token, unsigned row) {
    double sum = 0;
    for (unsigned i = 0; i < of.k; ++i) sum += input[size_t{token} * of.k + i] * on.w.at(size_t{row} * of.k + i);
    return sum;
  };
  const unsigned columns = of.gated ? of.n / 2 : of.n;
  double worst = 0;
  for (unsigned token = 0; token < of.m; ++token)
    for (unsigned column = 0; column < columns; ++column) {
      double expected = product(token, column);
      if (of.gated) expected *= product(token, columns + column) / (1 + std::exp(-expected));
      const double value = gvb::load_number(one.y.data(), size_t{token} * columns + column, gvb::Number::kF16);
      const double error = std::abs(value - expected) / (1 + std::abs(expected));
      worst = error <= worst ? worst : error;  // also if it is NaN
    }
  CHECK_NEAR(worst, 0, 1e-3);
  for (size_t i = size_t{of.m} * columns; i < one.y.size(); ++i) CHECK_EQUAL(one.y[i], kNanHalf);
}

}  // namespace

void test_decode_product() {
  // Rows past the end, a ring that wraps, a partial last chunk, several groups per block.
  test_case({1, 42, 1024 + 96, 2, 3, false, false});
  test_case({8, 24, 160, 3, kMostStages, false, false});
  test_case({3, 32, 2048, 1, 3, true, false});
  // Two pieces per thread; gate and up.
  test_case({1, 16, 4096, 2, 4, true, true});
  test_case({5, 64, 64, 3, 3, false, true});
  // The bits must not depend on the number of blocks.
  Case of = {2, 40, 192, 1, 3, false, false};
  Operands on(of);
  const Launched one = launch(of, on, 3);
  of.blocks = 5;
  CHECK(launch(of, on, 4).y == one.y);
}
