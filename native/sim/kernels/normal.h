#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_normal(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_normal_part(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
