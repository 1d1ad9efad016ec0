#include "sim/kernels/skinny.h"

#include <algorithm>

#include "sim/work/host_arithmetic.h"

namespace gvb::sim {
namespace {

struct SkinnyProduct {
  uint64_t x, weights, y;
  size_t m, n, k;
  Number number;
};

void widen(const SkinnyProduct& product, const void* from, size_t first, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = load_number(from, first + i, product.number);
}

// Computes the elements of y in that part of memory.
void multiply(const SkinnyProduct& product, const Range& part, const DeferredResults::Need& need) {
  const size_t each = bytes_of(product.number);
  const size_t first = (part.begin - product.y) / each, end = (part.end - product.y + each - 1) / each;
  std::vector<float> x(product.m * product.k), row(product.k);
  need(range_of(product.x, x.size() * each));
  widen(product, reinterpret_cast<const void*>(product.x), 0, x.size(), x.data());
  const size_t first_row = first / product.n, end_row = (end + product.n - 1) / product.n;
  for (size_t n = 0; n < product.n; ++n) {
    const size_t from = first_row + (first_row * product.n + n < first ? 1 : 0);
    const size_t until = end_row - ((end_row - 1) * product.n + n >= end ? 1 : 0);
    if (from >= until) continue;
    need(range_of(product.weights + n * product.k * each, product.k * each));
    widen(product, reinterpret_cast<const void*>(product.weights), n * product.k, product.k, row.data());
    for (size_t m = from; m < until; ++m)
      store_number(reinterpret_cast<void*>(product.y), m * product.n + n, dot(&x[m * product.k], row.data(), product.k),
                   product.number);
  }
}

}  // namespace

Plan plan_skinny(Number number, Cores cores, const Arguments& arguments, const Geometry& geometry,
                 const CardSettings& card) {
  const auto x = arguments.get<uint64_t>(0), weights = arguments.get<uint64_t>(1), y = arguments.get<uint64_t>(2),
             counter = arguments.get<uint64_t>(5);
  const size_t m = arguments.get<unsigned>(6), n = arguments.get<unsigned>(7), k = arguments.get<unsigned>(8);
  const size_t each = bytes_of(number);
  const double bytes = static_cast<double>(each * (n * k + m * k + m * n));
  const double flops = 2.0 * static_cast<double>(m * n * k);
  const double memory_ns = bytes / card.dram_gbs;
  const double sums_ns = flops / ((cores == Cores::kTensor ? card.tensor_tflops : card.fp32_tflops) * 1e3);
  Plan plan;
  plan.nanoseconds = std::max(memory_ns, sums_ns);
  plan.demand = demand_of(kDram, memory_ns / plan.nanoseconds);
  plan.touches = {{x, each * m * k, 16, Access::kRead},
                  {weights, each * n * k, 16, Access::kRead},
                  {y, each * m * n, 2, Access::kWrite}};
  const SkinnyProduct product = {x, weights, y, m, n, k, number};
  plan.compute = [product](const Range& part, const DeferredResults::Need& need) { multiply(product, part, need); };
  if (counter != 0) count_blocks(&plan, counter, geometry);
  return plan;
}

}  // namespace gvb::sim
