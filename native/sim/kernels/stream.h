// The kernels of stream.cu.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_stream_read(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_stream_write(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_stream_copy(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
