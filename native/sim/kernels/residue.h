#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_tag_fill(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_tag_scan(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_shared_fill(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_shared_scan(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_local_fill(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_local_scan(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_registers(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
