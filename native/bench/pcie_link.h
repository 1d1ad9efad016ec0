// The link between the host and the device as NVML reports it while copies use it: an idle one may run at a lower rate.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/device_session.h"

namespace gvb {

struct PcieLinkRequest {
  size_t bytes = 0;  // size of each copy that keeps the link busy
  uint64_t seed = 0;
};

// nullopt: NVML does not report it, e.g. because the link is not PCIe.
struct PcieLink {
  std::optional<unsigned> generation, width, max_generation, max_width;
  // Whether copies were still in progress when it was read.
  bool under_load = false;
};

PcieLink read_pcie_link(DeviceSession& session, const PcieLinkRequest& request);

}  // namespace gvb
