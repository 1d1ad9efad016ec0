#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/settings.h"

namespace gvb::sim {

struct DeviceVariables {
  const char* visible;                // CUDA_VISIBLE_DEVICES; null if unset
  const char* order;                  // CUDA_DEVICE_ORDER; null if unset
  std::optional<std::string> served;  // CUDA_VISIBLE_DEVICES of the MPS daemon whose client this is
};

// The places of the cards that a program sees, in its order. As in the real driver, the card with most multiprocessors
// comes first unless the order is PCI_BUS_ID, also for the indexes in the list; the list ends at the first entry that
// names no device; the indexes of an MPS client count the daemon's devices; and a program sees only the first MIG
// instance of a split card unless the list names another one by UUID.
std::vector<int> visible_devices(const DeviceVariables& variables, const Settings& settings);

}  // namespace gvb::sim
