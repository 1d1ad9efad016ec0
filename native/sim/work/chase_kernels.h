// The kernels of kernels/chase.cu.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_chase_link(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_chase(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
