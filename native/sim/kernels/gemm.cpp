#include "sim/kernels/gemm.h"

#include <algorithm>
#include <vector>

#include "bench/llm/number_bits.h"
#include "kernels/gemm_shape.h"
#include "sim/work/tensor_map.h"

namespace gvb::sim {
namespace {

// Tensor cores multiply twice as many 8-bit as 16-bit numbers.
double tflops(Number number, const CardSettings& card) {
  if (number == Number::kF32) return card.fp32_tflops;
  return number == Number::kE4m3 ? 2 * card.tensor_tflops : card.tensor_tflops;
}

Number output_of(Number number) { return number == Number::kE4m3 ? Number::kBf16 : number; }

struct Sizes {
  size_t a, b, c;  // in bytes
};

Sizes sizes_of(const Matrices& its) {
  const size_t input = bytes_of(its.number), output = bytes_of(output_of(its.number));
  return {size_t{its.m} * its.k * input, size_t{its.n} * its.k * input, size_t{its.m} * its.n * output};
}

std::vector<float> rows_of(uint64_t matrix, size_t first, size_t count, const Matrices& its) {
  std::vector<float> values(count * its.k);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = load_number(reinterpret_cast<const void*>(matrix), first * its.k + i, its.number);
  return values;
}

// Rows `top` to `bottom` of C, columns `left` to `right`.
struct Part {
  size_t top, bottom, left, right;
};

// All columns if it spans more than one row.
Part part_of(const Range& range, const Matrices& its) {
  const size_t each = bytes_of(output_of(its.number));
  const size_t first = (range.begin - its.c) / each, last = (range.end - its.c - 1) / each;
  const size_t top = first / its.n, bottom = last / its.n;
  if (top == bottom) return {top, top + 1, first % its.n, last % its.n + 1};
  return {top, bottom + 1, 0, its.n};
}

// Sums several columns at once, so that one sum's additions do not wait for another's.
constexpr size_t kAtOnce = 4;

void add_products(const float* values, const float* columns, size_t length, double* sums) {
  double first = 0, second = 0, third = 0, fourth = 0;
  for (size_t k = 0; k < length; ++k) {
    const double value{values[k]};
    first += value * double{columns[k]};
    second += value * double{columns[length + k]};
    third += value * double{columns[2 * length + k]};
    fourth += value * double{columns[3 * length + k]};
  }
  sums[0] = first;
  sums[1] = second;
  sums[2] = third;
  sums[3] = fourth;
}

void multiply(const Matrices& its, const Part& part, const DeferredResults::Need& need) {
  const size_t row = size_t{its.k} * bytes_of(its.number);
  need({its.a + part.top * row, its.a + part.bottom * row});
  need({its.b + part.left * row, its.b + part.right * row});
  const std::vector<float> columns = rows_of(its.b, part.left, part.right - part.left, its);
  for (size_t i = part.top; i < part.bottom; ++i) {
    const std::vector<float> values = rows_of(its.a, i, 1, its);
    for (size_t j = part.left; j < part.right; j += kAtOnce) {
      const size_t count = std::min(kAtOnce, part.right - j);
      double sums[kAtOnce] = {};
      if (count == kAtOnce)
        add_products(values.data(), &columns[(j - part.left) * its.k], its.k, sums);
      else
        for (size_t one = 0; one < count; ++one)
          for (size_t k = 0; k < its.k; ++k)
            sums[one] += double{values[k]} * double{columns[(j - part.left + one) * its.k + k]};
      for (size_t one = 0; one < count; ++one)
        store_number(reinterpret_cast<void*>(its.c), i * its.n + j + one, static_cast<float>(sums[one]),
                     output_of(its.number));
    }
  }
}

struct Tiled {
  Number number;
  unsigned rows, columns, tile_rows;
};

// The address of a matrix whose tensor map describes what the kernel needs; else 0, an address without memory.
uint64_t address_in_map(const Arguments& arguments, size_t index, const Tiled& wanted) {
  const auto map = arguments.get<abi::CUtensorMap>(index);
  const TensorDescription* described = described_by(map);
  if (described == nullptr || described->rank != 2) return 0;
  const size_t each = bytes_of(wanted.number);
  const bool as_wanted = described->dimensions[0] == wanted.columns && described->dimensions[1] == wanted.rows &&
                         described->strides[0] == wanted.columns * each && described->element_bytes == each &&
                         described->box[0] * each == gemm_sm90::kRowBytes && described->box[1] == wanted.tile_rows &&
                         described->swizzle == abi::CU_TENSOR_MAP_SWIZZLE_128B;
  return as_wanted ? described->address : 0;
}

}  // namespace

Matrices matrices_of_maps(const Arguments& arguments, Number number) {
  using namespace gemm_sm90;
  const auto m = arguments.get<unsigned>(3), n = arguments.get<unsigned>(4), k = arguments.get<unsigned>(5);
  const Number output = output_of(number);
  return {number,
          address_in_map(arguments, 0, {number, m, k, kTileRows}),
          address_in_map(arguments, 1, {number, n, k, kTileColumns / kBlocksOfCluster}),
          address_in_map(arguments, 2, {output, m, n, kRowsOfStore}),
          m,
          n,
          k};
}

Plan plan_product(const Matrices& its, uint64_t counter, const Geometry& geometry, const CardSettings& card) {
  const Sizes sizes = sizes_of(its);
  const double memory_ns = static_cast<double>(sizes.a + sizes.b + sizes.c) / card.dram_gbs;
  const double compute_ns = 2.0 * its.m * its.n * its.k / (tflops(its.number, card) * 1e3);
  Plan plan;
  plan.nanoseconds = std::max(memory_ns, compute_ns);
  plan.demand = demand_of(kDram, memory_ns / plan.nanoseconds);
  plan.touches = {
      {its.a, sizes.a, 16, Access::kRead}, {its.b, sizes.b, 16, Access::kRead}, {its.c, sizes.c, 16, Access::kWrite}};
  plan.compute = [its](const Range& range, const DeferredResults::Need& need) {
    multiply(its, part_of(range, its), need);
  };
  if (counter != 0) count_blocks(&plan, counter, geometry);
  return plan;
}

}  // namespace gvb::sim
