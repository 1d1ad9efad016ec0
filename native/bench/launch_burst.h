// SCHED-002's block: many launches without a wait in between, then one wait for all of them.
// OH-001 is the isolated launch.
//
// Every kernel counts itself on the device. After the last kernel of each stream another one stamps host memory, which
// the host reads as soon as its wait returns. A missing stamp or a wrong count therefore reveals a layer that only
// notes launches, or returns early from the wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class BurstCall { kKernel, kKernelEx, kGraph };

struct BurstRequest {
  BurstCall call = BurstCall::kKernel;
  unsigned launches = 1;  // launches per burst, over all threads
  unsigned nodes = 1;     // kernels per launch; more than 1 only for graphs
  unsigned threads = 1;   // threads that launch at the same time; 1: only the calling one
  unsigned streams = 1;   // streams per thread, used in turn
  unsigned bursts = 1;
  unsigned warmup = 0;  // launches of each thread before the first burst
  uint64_t core = 0;    // index of the processor to use, if there is only one thread
};

struct LaunchBursts {
  unsigned kernels = 0;           // kernels per burst, including those that stamp
  std::vector<double> total_ns;   // per burst: from the first call until every wait has returned
  std::vector<double> submit_ns;  // per burst: from the first call until the last launch call has returned
  // Time per kernel of a graph, by the device's clock around one launch; nullopt for other calls.
  std::optional<double> device_ns;
  std::optional<int> core;
};

LaunchBursts measure_bursts(DeviceSession& session, const BurstRequest& request);

}  // namespace gvb
