#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

// A round of the arithmetic of kernels/chain.cuh, of a block beside as many as a multiprocessor holds; an H200's take
// about so long.
constexpr double kRoundNs = 256;

Plan plan_pause(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_load(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
