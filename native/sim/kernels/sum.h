// Kernels that write what ranks add up, and look at the sums.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_parts(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_ordered_sum(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_sums_check(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
