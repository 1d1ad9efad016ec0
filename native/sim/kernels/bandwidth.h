// The kernels of kernels/bandwidth.cu.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_bandwidth_read(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_bandwidth_write(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_bandwidth_copy(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
