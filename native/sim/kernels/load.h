#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

// Time of one round of the arithmetic in kernels/chain.cuh, for one block on a full multiprocessor; about an H200's.
constexpr double kRoundNs = 256;

Plan plan_pause(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_load(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
