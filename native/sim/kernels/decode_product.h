// What the kernel of native/kernels/decode_product.cuh does and how long it takes.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_decode_product(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
