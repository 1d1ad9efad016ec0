// One tenant's load: kernels of one shape, launched for a given time from a given start, and how much of their work was
// done in each bin of the device's time.
//
// The unit of work is a round of dependent arithmetic by one block (gvb_load). A kernel does a fixed number of rounds:
// with fewer multiprocessors, beside other tenants or preempted it takes longer, whereas a kernel that waits by a clock
// would not. Bins are counted in %globaltimer, which all processes of a GPU share: bin i begins at i * bin_ns, so bins
// of several tenants are matched by their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// The last two use the thread's default stream (thread_stream.h), all others a stream of their own.
enum class LoadCall { kKernel, kKernelEx, kGraph, kCooperative, kThreadKernel, kThreadGraph };

struct LoadRequest {
  LoadCall call = LoadCall::kKernel;
  unsigned nodes = 1;                      // kernels per launch; more than 1 only for graphs
  unsigned blocks_per_multiprocessor = 0;  // 0: as many as run at a time
  unsigned blocks = 0;                     // blocks of the whole kernel, instead of the former; 0: unused
  unsigned threads_per_block = 0;          // 0: so many that blocks leave no room on a multiprocessor
  uint64_t rounds = 0;     // per block; 0: calibrated before the start to make a kernel of about kernel_ns
  uint64_t kernel_ns = 0;  // duration of a kernel alone on the GPU
  unsigned in_flight = 1;  // limit on unfinished launches; 1: each is waited for with cuStreamSynchronize
  int64_t start_at_ns = 0;
  uint64_t duration_ns = 0;  // by the device's clock or the host's, whichever is first
  uint64_t bin_ns = 0;
  uint64_t gap_ns = 0;       // the shortest time between two kernels that is listed
  unsigned most_listed = 0;  // limit on listed gaps, and on listed kernels; the latest are kept
  unsigned partition = 0;    // on so many multiprocessors alone; 0: on all. Not in the thread's default stream
};

// Intervals of the device's time, in ns from the beginning of the first bin.
struct Stretches {
  std::vector<double> at_ns;
  std::vector<double> took_ns;
};

struct Load {
  uint64_t rounds = 0;  // per block, as used
  unsigned blocks = 0;
  unsigned multiprocessors = 0;  // number that the tenant is told
  std::vector<unsigned> multiprocessors_used;
  unsigned partition = 0;  // its multiprocessors, as the driver says; 0: none was asked for
  uint64_t launches = 0;
  uint64_t kernels = 0;
  double work = 0;  // rounds times blocks
  // Number of the first bin: it begins at first_bin * bin_ns of the device's clock, and at host_origin_ns of the
  // host's, relative to start_at_ns and accurate to half of host_bracket_ns.
  double first_bin = 0;
  double host_origin_ns = 0;
  double host_bracket_ns = 0;
  std::vector<double> bins;  // work; 0 in the bins before the start and after the end
  // From the first kernel's start to the last one's end, in ns from the beginning of the first bin.
  double started_ns = 0;
  double ended_ns = 0;
  double busy_ns = 0;  // of that, the time during which a kernel ran
  // When the first launch call was made, relative to start_at_ns.
  double host_started_ns = 0;
  uint64_t gaps = 0;      // number of gaps long enough to be listed
  Stretches gaps_listed;  // start and length
  Stretches kernels_listed;
  // The durations of the latest launch calls, and the largest number of unfinished kernels when one returned.
  std::vector<double> calls_ns;
  unsigned most_in_flight = 0;
};

Load measure_load(DeviceSession& session, const LoadRequest& request);

}  // namespace gvb
