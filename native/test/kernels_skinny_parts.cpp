// Skinny products, every variant, against double precision on the same rounded inputs.
#include <cmath>
#include <random>
#include <vector>

#include "bench/llm/skinny_variants.h"
#include "kernels/skinny.cu"
#include "kernels/skinny_sm80_bf16_16.cu"
#include "kernels/skinny_sm80_bf16_32.cu"
#include "kernels/skinny_sm80_bf16_64.cu"
#include "kernels/skinny_sm80_bf16_8.cu"
#include "kernels/skinny_sm80_f16_16.cu"
#include "kernels/skinny_sm80_f16_32.cu"
#include "kernels/skinny_sm80_f16_64.cu"
#include "kernels/skinny_sm80_f16_8.cu"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

using Kernel = void (*)(const uint4*, const uint4*, uint16_t*, float*, unsigned*, unsigned long long*, unsigned,
                        unsigned, unsigned);

struct Case {
  unsigned m, n, k, splits;
  uint64_t seed;
};

constexpr uint16_t kPoison = 0xfbfb;

// Aligned, because the kernels read whole 16-byte pieces.
struct Matrix {
  Matrix(size_t count, uint64_t seed) : pieces(count / 8), halves(reinterpret_cast<uint16_t*>(pieces.data())) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    values.resize(count);
    for (float& value : values) value = normal(random);
  }
  template <class Format>
  void round() {
    for (size_t i = 0; i < values.size(); ++i) {
      halves[i] = static_cast<uint16_t>(gvb::encode<Format>(values[i]));
      values[i] = gvb::decode<Format>(halves[i]);
    }
  }
  std::vector<uint4> pieces;
  uint16_t* halves;
  std::vector<float> values;
};

template <class Format>
void check_product(const Case& its, const Matrix& x, const Matrix& w, const std::vector<uint16_t>& y) {
  double worst = 0;
  for (size_t m = 0; m < its.m; ++m)
    for (size_t n = 0; n < its.n; ++n) {
      double sum = 0, magnitude = 0;
      for (size_t k = 0; k < its.k; ++k) {
        const double product = double{x.values[m * its.k + k]} * w.values[n * its.k + k];
        sum += product;
        magnitude += std::fabs(product);
      }
      const double value = gvb::decode<Format>(y[m * its.n + n]);
      // The result's own rounding, plus that of single-precision sums.
      const double allowed = std::fabs(sum) / (1 << Format::kMantissa) + magnitude * 1e-6;
      worst = std::max(worst, std::isfinite(value) ? std::fabs(value - sum) / allowed : 1e9);
    }
  CHECK_NEAR(worst, 0, 1);
  for (size_t i = size_t{its.m} * its.n; i < y.size(); ++i) CHECK_EQUAL(y[i], kPoison);
}

// Twice with different thread orders: the bits must not depend on the order, nor on what the first launch left.
template <class Format>
void test_kernel(Kernel kernel, const gvb::SkinnyVariant& variant, const Case& its) {
  Matrix x(size_t{its.m} * its.k, its.seed), w(size_t{its.n} * its.k, its.seed + 1);
  x.round<Format>();
  w.round<Format>();
  const unsigned groups = (its.n + variant.rows - 1) / variant.rows;
  std::vector<float> partial(size_t{groups} * variant.rows * its.m * its.splits, NAN);
  std::vector<unsigned> arrived(groups);
  unsigned long long blocks = 0;
  std::vector<uint16_t> y[2];
  for (unsigned run = 0; run < 2; ++run) {
    y[run].assign(size_t{its.m} * its.n + 64, kPoison);
    gvb::emulator::run({{groups, its.splits, 1}, {256, 1, 1}, variant.shared_bytes, 1, its.seed + run}, [&] {
      kernel(x.pieces.data(), w.pieces.data(), y[run].data(), partial.data(), arrived.data(), &blocks, its.m, its.n,
             its.k);
    });
    check_product<Format>(its, x, w, y[run]);
    for (const unsigned left : arrived) CHECK_EQUAL(left, 0u);
  }
  CHECK(y[0] == y[1]);
  CHECK_EQUAL(blocks, 2ull * groups * its.splits);
}

template <class Format>
void test_tensor_cores(const Kernel (&kernels)[4]) {
  using gvb::kSkinnyTensorVariants;
  // Several chunks of K with a short last one, rows past the end, missing tokens; then K split unevenly over blocks.
  test_kernel<Format>(kernels[0], kSkinnyTensorVariants[0], {1, 40, 64 * 35, 1, 1});
  test_kernel<Format>(kernels[0], kSkinnyTensorVariants[0], {8, 64, 64 * 37, 2, 2});
  test_kernel<Format>(kernels[1], kSkinnyTensorVariants[1], {11, 72, 64 * 19, 3, 3});
  test_kernel<Format>(kernels[2], kSkinnyTensorVariants[2], {32, 130, 64 * 9, 1, 4});
  test_kernel<Format>(kernels[2], kSkinnyTensorVariants[2], {17, 128, 64 * 9, 2, 5});
  test_kernel<Format>(kernels[3], kSkinnyTensorVariants[3], {64, 264, 64 * 5, 1, 6});
  test_kernel<Format>(kernels[3], kSkinnyTensorVariants[3], {33, 256, 64 * 7, 3, 7});
  // K shorter than a block's warps take at once.
  test_kernel<Format>(kernels[0], kSkinnyTensorVariants[0], {3, 32, 64, 1, 8});
}

}  // namespace

void test_skinny() {
  test_tensor_cores<gvb::F16>({gvb_skinny_f16_8, gvb_skinny_f16_16, gvb_skinny_f16_32, gvb_skinny_f16_64});
  test_tensor_cores<gvb::Bf16>({gvb_skinny_bf16_8, gvb_skinny_bf16_16, gvb_skinny_bf16_32, gvb_skinny_bf16_64});
  test_kernel<gvb::F16>(gvb_skinny_fma_f16, gvb::kSkinnyPlainVariant, {1, 9, 320, 1, 1});
  test_kernel<gvb::F16>(gvb_skinny_fma_f16, gvb::kSkinnyPlainVariant, {6, 16, 448, 1, 2});
  test_kernel<gvb::Bf16>(gvb_skinny_fma_bf16, gvb::kSkinnyPlainVariant, {5, 7, 320, 1, 3});
}
