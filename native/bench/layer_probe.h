// What a process can learn about its layer by experiment: the memory it is told, the limits that the layer's own
// functions report, whether given allocations are granted, and where its kernels run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct TriedAllocation {
  uint64_t bytes;
  abi::CUresult code;
};

struct LayerProbe {
  std::optional<uint64_t> visible_total_bytes;
  std::optional<uint64_t> visible_free_bytes;
  // HAMi-core's internals, if that layer owns the measured path and exports them.
  std::optional<bool> pid_found;
  std::optional<uint64_t> memory_limit_bytes;
  std::optional<int> sm_percent;
  std::vector<TriedAllocation> allocations;
  // In a confined process: the multiprocessors of its green context by the driver's description, and those on which
  // blocks ran, of which there were enough for the whole card.
  std::optional<unsigned> partition_multiprocessors;
  std::optional<unsigned> multiprocessors_used;
};

struct LayerProbeRequest {
  std::vector<uint64_t> allocations;  // sizes in bytes
};

// Every granted allocation is freed at once.
LayerProbe probe_layer(DeviceSession& session, const LayerProbeRequest& request);

}  // namespace gvb
