// The effects and durations of kernels/pages.cu and kernels/pipeline.cu.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_write_ends(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_read_ends(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_stage(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
