// The kernels of skinny products.
#pragma once

#include "bench/llm/number.h"
#include "sim/work/kernels.h"

namespace gvb::sim {

enum class Cores { kTensor, kCuda };

Plan plan_skinny(Number number, Cores cores, const Arguments& arguments, const Geometry& geometry,
                 const CardSettings& card);

template <Number Format, Cores Which>
Plan plan_skinny(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  return plan_skinny(Format, Which, arguments, geometry, card);
}

}  // namespace gvb::sim
