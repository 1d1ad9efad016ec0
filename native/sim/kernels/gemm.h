#pragma once

#include "bench/llm/number.h"
#include "sim/work/kernels.h"

namespace gvb::sim {

struct Matrices {
  Number number;
  uint64_t a, b, c;
  unsigned m, n, k;
};

Plan plan_product(const Matrices& matrices, uint64_t counter, const Geometry& geometry, const CardSettings& card);

// The arguments are the maps of A, B and C, then m, n, k and the block counter.
Matrices matrices_of_maps(const Arguments& arguments, Number number);

template <Number number>
Plan plan_gemm_maps(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  return plan_product(matrices_of_maps(arguments, number), arguments.get<uint64_t>(6), geometry, card);
}

template <Number number>
Plan plan_gemm_addresses(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const Matrices matrices = {number,
                             arguments.get<uint64_t>(0),
                             arguments.get<uint64_t>(1),
                             arguments.get<uint64_t>(2),
                             arguments.get<unsigned>(3),
                             arguments.get<unsigned>(4),
                             arguments.get<unsigned>(5)};
  return plan_product(matrices, arguments.get<uint64_t>(6), geometry, card);
}

}  // namespace gvb::sim
