// One tenant's load: kernels of one shape, launched from an absolute time on for a given time, and how much of their
// work was done in each bin of the device's time.
//
// The unit of work is a round of dependent arithmetic by one block (gvb_load). A kernel does a fixed number of rounds:
// on fewer multiprocessors, beside others or preempted it takes longer, where a kernel that waits by a clock would not.
// Bins are counted in %globaltimer, which all processes of a GPU share: bin i begins at i * bin_ns, so bins of several
// tenants are compared by their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// The last two in the thread's default stream (thread_stream.h), all others in a stream of their own.
enum class LoadCall { kKernel, kKernelEx, kGraph, kCooperative, kThreadKernel, kThreadGraph };

struct LoadRequest {
  LoadCall call = LoadCall::kKernel;
  unsigned nodes = 1;                      // kernels of a launch; above 1 for graphs alone
  unsigned blocks_per_multiprocessor = 0;  // 0: as many as run at a time
  unsigned blocks = 0;                     // of the whole kernel, in place of the former; 0: not
  unsigned threads_per_block = 1024;
  uint64_t rounds = 0;     // of a block; 0: as many as make a kernel of about kernel_ns, measured before the start
  uint64_t kernel_ns = 0;  // of a kernel alone on the GPU
  unsigned in_flight = 1;  // most launches that are not over; 1: each is waited for with cuStreamSynchronize
  int64_t start_at_ns = 0;
  uint64_t duration_ns = 0;  // by the device's clock or the host's, whichever passes first
  uint64_t bin_ns = 0;
  uint64_t gap_ns = 0;       // the shortest time between two kernels that is listed
  unsigned most_listed = 0;  // of gaps and of kernels; the latest are kept
};

// A stretch of the device's time, in ns from the beginning of the first bin.
struct Stretches {
  std::vector<double> at_ns;
  std::vector<double> took_ns;
};

struct Load {
  uint64_t rounds = 0;  // of a block, as done
  unsigned blocks = 0;
  unsigned multiprocessors = 0;  // that the tenant is told of
  std::vector<unsigned> multiprocessors_used;
  uint64_t launches = 0;
  uint64_t kernels = 0;
  double work = 0;  // rounds times blocks
  // Number of the first bin: its beginning is first_bin * bin_ns of the device's clock, and host_origin_ns of the
  // host's, relative to start_at_ns and known to half of host_bracket_ns.
  double first_bin = 0;
  double host_origin_ns = 0;
  double host_bracket_ns = 0;
  std::vector<double> bins;  // work; the bins before the start and after the end are 0
  // From the first kernel's start to the last one's end, in ns from the beginning of the first bin.
  double started_ns = 0;
  double ended_ns = 0;
  double busy_ns = 0;  // of that, while a kernel ran
  // When the first launch call was made, relative to start_at_ns.
  double host_started_ns = 0;
  uint64_t gaps = 0;      // that are long enough to be listed
  Stretches gaps_listed;  // begin and length
  Stretches kernels_listed;
  // How long the latest launch calls took, and at most how many kernels had not ended when one returned.
  std::vector<double> calls_ns;
  unsigned most_in_flight = 0;
};

Load measure_load(DeviceSession& session, const LoadRequest& request);

}  // namespace gvb
