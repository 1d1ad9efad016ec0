// Errors of a GPU (Xid), which NVML reports only to processes that registered before they happen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/nvml.h"

namespace gvb {

struct XidEvent {
  int64_t at_ns;  // time of reading
  uint64_t xid;
};

// Watches from now on until the process ends; repeated calls for the same GPU do nothing. Returns the reason if NVML
// cannot watch.
std::string watch_xids(const NvmlApi& nvml, const std::string& uuid);

// All events since the watch began; empty if there is no watch.
std::vector<XidEvent> seen_xids(const NvmlApi& nvml, const std::string& uuid);

}  // namespace gvb
