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
  unsigned partition = 0;  // all streams on so many multiprocessors alone; 0: on all of them
};

// Times by the device's clock; one value per run, except for the first two members.
struct StreamConcurrency {
  unsigned rounds = 0;
  unsigned blocks = 0;            // of a kernel: a block a multiprocessor, and a part of them a stream
  unsigned multiprocessors = 0;   // of the partition, as the driver says; else of the device
  std::vector<double> alone_ns;   // a kernel that had the device to itself, before the run
  std::vector<double> kernel_ns;  // the median one of the run
  std::vector<double> span_ns;    // from the first start to the last end
  std::vector<double> mean;       // how many ran at the same time in that span, on average
  std::vector<double> most;       // and at most
};

// Throws kInvalidResult where a kernel did not run or did other work than its own, kFunctionMissing where the device
// has no concurrent kernels, the streams are more than its multiprocessors, or no partition can be made.
StreamConcurrency measure_stream_concurrency(DeviceSession& session, const ConcurrencyRequest& request);

}  // namespace gvb
