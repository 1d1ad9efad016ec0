// SCHED-003: kernels in streams that do not depend on each other, each small enough that all streams fit the device at
// once. LLM-006 is the variant whose streams wait for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct ConcurrencyRequest {
  unsigned streams = 1;
  unsigned kernels = 1;    // kernels per stream, one after the other
  uint64_t kernel_ns = 0;  // target duration of a kernel alone
  unsigned rounds = 0;     // rounds of arithmetic per kernel; 0: calibrated to take kernel_ns
  unsigned runs = 1;
};

// Times by the device's clock; one value per run, except for the first two members.
struct StreamConcurrency {
  unsigned rounds = 0;
  unsigned blocks = 0;            // blocks per kernel: one per multiprocessor of the stream's part
  std::vector<double> alone_ns;   // duration of a kernel that had the device to itself, before the run
  std::vector<double> kernel_ns;  // median duration of a kernel in the run
  std::vector<double> span_ns;    // time from the first start to the last end
  std::vector<double> mean;       // average number of kernels that ran at the same time in that span
  std::vector<double> most;       // largest number of kernels that ran at the same time
};

// Throws kInvalidResult if a kernel did not run or did the wrong work, kFunctionMissing if the device has no concurrent
// kernels or fewer multiprocessors than there are streams.
StreamConcurrency measure_stream_concurrency(DeviceSession& session, const ConcurrencyRequest& request);

}  // namespace gvb
