// SCHED-002's block: many launches one behind the other without a wait in between, then one wait for all of them.
// OH-001 is the isolated launch.
//
// Every kernel counts itself on the device. Behind the last kernel of each stream a further one stamps host memory,
// which the host reads as soon as its wait returns: a layer that only notes launches down, or returns from the wait
// early, is found out by a missing stamp or a wrong count.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class BurstCall { kKernel, kKernelEx, kGraph };

struct BurstRequest {
  BurstCall call = BurstCall::kKernel;
  unsigned launches = 1;  // of a burst, over all threads
  unsigned nodes = 1;     // kernels of a launch; above 1 for graphs alone
  unsigned threads = 1;   // that launch at the same time; 1: the calling one
  unsigned streams = 1;   // of each thread, in turn
  unsigned bursts = 1;
  unsigned warmup = 0;  // launches of each thread before the first burst
  uint64_t core = 0;    // whose turn it is; of one thread alone
};

struct LaunchBursts {
  unsigned kernels = 0;           // of a burst, with the stamps
  std::vector<double> total_ns;   // from the first call until every wait has returned
  std::vector<double> submit_ns;  // until the last launch call has returned
  // Of a kernel of a graph, by the device's clock around one launch of it; nullopt of other calls.
  std::optional<double> device_ns;
  std::optional<int> core;
};

LaunchBursts measure_bursts(DeviceSession& session, const BurstRequest& request);

}  // namespace gvb
