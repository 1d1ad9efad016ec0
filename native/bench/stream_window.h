// A tenant that reads, writes or copies its memory for a time, and the times at which the device did so, which give its
// bandwidth in any part of that time. Times are of %globaltimer, which all processes of a GPU share.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"
#include "bench/llm/stream.h"

namespace gvb {

struct StreamWindowRequest {
  StreamKind kind = StreamKind::kRead;
  uint64_t bytes = 0;       // size of a buffer (a copy has two); 0: eight times the L2 cache, at least 64 MiB
  unsigned blocks = 0;      // blocks of 1024 threads per kernel; 0: two per multiprocessor
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // time during which kernels are launched
};

struct StreamWindow {
  uint64_t bytes = 0;  // size of a buffer
  unsigned blocks = 0;
  unsigned multiprocessors = 0;  // number that the tenant is told
  double moved_bytes = 0;        // bytes that a kernel moves; a copy counts what it reads and writes
  double dram_ceiling_gbs = 0;
  double origin_ms = 0;  // of %globaltimer; from_ns and to_ns are relative to it
  // Start of each kernel's first block, and end of its last one.
  std::vector<double> from_ns;
  std::vector<double> to_ns;
};

// Throws kInvalidResult if a kernel did not run, or if the memory does not hold the expected values.
StreamWindow stream_for(DeviceSession& session, const StreamWindowRequest& request);

}  // namespace gvb
