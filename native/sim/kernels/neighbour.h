// Kernels of noisy-neighbour measurements: aggressors, requests, and the trace of blocks.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_tiny_blocks(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_sweep(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_touch_pages(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_issue(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_arrived(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_mark_ends(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_request_step(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_trace_blocks(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
