// Errors of a GPU (Xid), which NVML reports only to those that registered before they happen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/nvml.h"

namespace gvb {

struct XidEvent {
  int64_t at_ns;  // when it was read
  uint64_t xid;
};

// From now on, for the life of the process; again for the same GPU: nothing more. The reason where NVML cannot.
std::string watch_xids(const NvmlApi& nvml, const std::string& uuid);

// All since the watch began; none where there is no watch.
std::vector<XidEvent> seen_xids(const NvmlApi& nvml, const std::string& uuid);

}  // namespace gvb
