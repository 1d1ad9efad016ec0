// Kernels that check copied data.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_mix_check(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
