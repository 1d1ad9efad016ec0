#pragma once

#include <optional>

#include "sim/card/region.h"

namespace gvb::sim {

// The group of this process, whose limits on a card are as it starts. GVB_SIM `dmem` names the folder that stands for
// the root of the cgroups: every folder in it is a group, with the kernel's files cgroup.procs, dmem.max and dmem.min,
// or driver.hard and driver.soft, which stand for limits that the driver keeps by itself. As in the kernel, a process
// is in the group of its parent unless it was moved. No value: it is in none.
std::optional<MemoryGroup> memory_group(int place);

}  // namespace gvb::sim
