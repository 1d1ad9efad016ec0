#pragma once

#include <vector>

#include "sim/settings.h"

namespace gvb::sim {

// The places of the cards in `list` (CUDA_VISIBLE_DEVICES; null if unset), in its order. As in the real driver, the
// list ends at the first entry that names no device, and a program sees only the first MIG instance of a split card
// unless the list names another one by UUID.
std::vector<int> visible_devices(const char* list, const Settings& settings);

}  // namespace gvb::sim
