#pragma once

#include <vector>

namespace gvb::sim {

// The physical indices `list` (CUDA_VISIBLE_DEVICES; null when unset) leaves, in its order. As in the real driver, the
// list ends at the first entry that names no device.
std::vector<int> visibleDevices(const char* list, int devices);

}  // namespace gvb::sim
