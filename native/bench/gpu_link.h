// How two GPUs are connected, as NVML reports it.
#pragma once

#include <optional>
#include <string>

#include "bench/device_session.h"

namespace gvb {

// What is between two GPUs, as `nvidia-smi topo -m` abbreviates it.
enum class Connection { kNvLink, kBoard, kPix, kPxb, kPhb, kNode, kSys };

struct GpuLinkRequest {
  std::string peer;  // UUID
};

struct GpuLink {
  std::optional<Connection> connection;  // nullopt: NVML does not report it
  unsigned peer_nvlinks = 0;             // active NVLinks to the peer, or to the switch between them
  unsigned nvlinks = 0;                  // all active ones of this GPU
  std::optional<unsigned> nvlink_mbs;    // of one NVLink in one direction
  // Highest generation and largest width of this GPU and its slot together.
  std::optional<unsigned> pcie_generation, pcie_width;
};

GpuLink read_gpu_link(DeviceSession& session, const GpuLinkRequest& request);

}  // namespace gvb
