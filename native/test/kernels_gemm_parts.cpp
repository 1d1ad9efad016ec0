// C = A · Bᵀ, every variant, against double precision on the same rounded inputs.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/gemm_f32.cu"
#include "kernels/gemm_sm80_bf16.cu"
#include "kernels/gemm_sm80_f16.cu"
#include "kernels/gemm_sm89_e4m3.cu"
#include "kernels/gemm_sm90_bf16.cu"
#include "kernels/gemm_sm90_e4m3.cu"
#include "kernels/gemm_sm90_f16.cu"
#include "sim/work/tensor_map.h"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

using gvb::Number;
using gvb::hopper::TensorMap;

struct Size {
  unsigned m, n, k;
};

using Bytes = std::vector<unsigned char>;

Bytes normal_matrix(size_t count, Number number, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Bytes values(count * bytes_of(number));
  for (size_t i = 0; i < count; ++i) gvb::store_number(values.data(), i, normal(random), number);
  return values;
}

struct Problem {
  Number input, output;
  Size size;
  Bytes a, b, c;

  Problem(Number its_input, Number its_output, Size its_size)
      : input(its_input),
        output(its_output),
        size(its_size),
        a(normal_matrix(size_t{size.m} * size.k, input, 1)),
        b(normal_matrix(size_t{size.n} * size.k, input, 2)),
        c(size_t{size.m} * size.n * bytes_of(output), 0xff) {}

  // The largest error, in steps of the output's rounding and of the sums' magnitude; infinite if a value is not a
  // number.
  double worst_error() const {
    double worst = 0;
    for (unsigned row = 0; row < size.m; ++row)
      for (unsigned column = 0; column < size.n; ++column) {
        double sum = 0, magnitude = 0;
        for (unsigned k = 0; k < size.k; ++k) {
          const double product = double{gvb::load_number(a.data(), size_t{row} * size.k + k, input)} *
                                 gvb::load_number(b.data(), size_t{column} * size.k + k, input);
          sum += product;
          magnitude += std::fabs(product);
        }
        const double value = gvb::load_number(c.data(), size_t{row} * size.n + column, output);
        const double rounding = output == Number::kF32 ? 0 : output == Number::kF16 ? 0x1p-11 : 0x1p-8;
        const double error = std::fabs(value - sum) / (rounding * std::fabs(sum) + 0x1p-20 * magnitude);
        worst = std::isfinite(value) ? std::max(worst, error) : INFINITY;
        if (!(worst < 2)) return worst;
      }
    return worst;
  }
};

TensorMap map_of(const Bytes& matrix, Number number, Size size, unsigned box_rows) {
  gvb::sim::TensorDescription described = {};
  described.address = reinterpret_cast<uint64_t>(matrix.data());
  described.rank = 2;
  described.swizzle = gvb::abi::CU_TENSOR_MAP_SWIZZLE_128B;
  described.element_bytes = static_cast<uint8_t>(bytes_of(number));
  described.dimensions[0] = size.k;
  described.dimensions[1] = size.m;
  described.strides[0] = size.k * bytes_of(number);
  described.box[0] = static_cast<uint16_t>(128 / bytes_of(number));
  described.box[1] = static_cast<uint16_t>(box_rows);
  gvb::abi::CUtensorMap encoded;
  CHECK_EQUAL(gvb::sim::encode(&encoded, described), gvb::abi::CUDA_SUCCESS);
  TensorMap map;
  std::memcpy(&map, &encoded, sizeof map);
  return map;
}

using HopperKernel = void (*)(TensorMap, TensorMap, TensorMap, unsigned, unsigned, unsigned, unsigned long long*);

void test_hopper(HopperKernel kernel, Number number, Size size, unsigned blocks, uint64_t seed) {
  Problem problem(number, number == Number::kE4m3 ? Number::kBf16 : number, size);
  const TensorMap a = map_of(problem.a, number, {size.m, 0, size.k}, gvb::gemm_sm90::kTileRows);
  const TensorMap b = map_of(problem.b, number, {size.n, 0, size.k}, gvb::gemm_sm90::kTileColumns / 2);
  const TensorMap c = map_of(problem.c, problem.output, {size.m, 0, size.n}, 64);
  unsigned long long counted = 0;
  gvb::emulator::run({{blocks, 1, 1},
                      {gvb::gemm_sm90::kThreads, 1, 1},
                      gvb::gemm_sm90::kSharedBytes,
                      gvb::gemm_sm90::kBlocksOfCluster,
                      seed},
                     [&] { kernel(a, b, c, size.m, size.n, size.k, &counted); });
  CHECK_NEAR(problem.worst_error(), 0, 1);
  CHECK_EQUAL(counted, blocks);
}

unsigned tiles_of(Size size, unsigned rows, unsigned columns) {
  return (size.m + rows - 1) / rows * ((size.n + columns - 1) / columns);
}

using AmpereKernel = void (*)(const unsigned char*, const unsigned char*, uint32_t*, unsigned, unsigned, unsigned,
                              unsigned long long*);

void test_ampere(AmpereKernel kernel, Number number, Size size, uint64_t seed) {
  using namespace gvb::gemm_sm80;
  Problem problem(number, number == Number::kE4m3 ? Number::kBf16 : number, size);
  unsigned long long counted = 0;
  gvb::emulator::run({{tiles_of(size, kTileRows, kTileColumns), 1, 1}, {kThreads, 1, 1}, kSharedBytes, 1, seed}, [&] {
    kernel(problem.a.data(), problem.b.data(), reinterpret_cast<uint32_t*>(problem.c.data()), size.m, size.n, size.k,
           &counted);
  });
  CHECK_NEAR(problem.worst_error(), 0, 1);
  CHECK_EQUAL(counted, tiles_of(size, kTileRows, kTileColumns));
}

void test_cuda_cores(Size size, uint64_t seed) {
  using namespace gvb::gemm_f32;
  Problem problem(Number::kF32, Number::kF32, size);
  const auto floats = [](Bytes& bytes) { return reinterpret_cast<float*>(bytes.data()); };
  unsigned long long counted = 0;
  gvb::emulator::run({{tiles_of(size, kTile, kTile), 1, 1}, {kThreads, 1, 1}, kSharedBytes, 1, seed}, [&] {
    gvb_gemm_f32(floats(problem.a), floats(problem.b), floats(problem.c), size.m, size.n, size.k, &counted);
  });
  CHECK_NEAR(problem.worst_error(), 0, 1);
  CHECK_EQUAL(counted, tiles_of(size, kTile, kTile));
}

}  // namespace

void test_gemm() {
  // Edges of rows, of columns and, but in single precision, of K; more steps of K than stages.
  test_ampere(gvb_gemm_sm80_bf16, Number::kBf16, {136, 264, 200}, 1);
  test_ampere(gvb_gemm_sm80_f16, Number::kF16, {72, 520, 32}, 2);
  test_ampere(gvb_gemm_sm89_e4m3, Number::kE4m3, {130, 264, 400}, 3);
  test_cuda_cores({130, 260, 72}, 1);
  test_cuda_cores({20, 136, 8}, 2);
  test_cuda_cores({136, 20, 32}, 3);
  test_cuda_cores({64, 128, 16}, 4);
  // Three tiles of rows, so that one block of a cluster is beyond the edge; two of columns, the second of 8 columns;
  // four steps of K, the last of 8, in a ring of three; two clusters, one of them with two tiles.
  test_hopper(gvb_gemm_sm90_bf16, Number::kBf16, {300, 264, 200}, 2, 1);
  test_hopper(gvb_gemm_sm90_f16, Number::kF16, {520, 264, 136}, 4, 2);
  test_hopper(gvb_gemm_sm90_e4m3, Number::kE4m3, {136, 520, 272}, 2, 3);
}
