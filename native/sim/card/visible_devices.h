#pragma once

#include <vector>

#include "sim/settings.h"

namespace gvb::sim {

// The places of the cards that `list` (CUDA_VISIBLE_DEVICES; null when unset) leaves, in its order. As in the real
// driver, the list ends at the first entry that names no device; of a card that is cut into MIG instances a program
// sees the first one, unless the list names another one by its UUID.
std::vector<int> visible_devices(const char* list, const Settings& settings);

}  // namespace gvb::sim
