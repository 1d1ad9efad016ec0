// The kernels of kernels/chase.cu and kernels/strong_loads.cu.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_chase_link(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_chase(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_strong_loads(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
