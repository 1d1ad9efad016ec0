// A tenant that reads, writes or copies its memory for a time, and when the device did so: the record from which its
// bandwidth follows in any part of that time. Stamps are of %globaltimer, which all processes of a GPU share.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"
#include "bench/llm/stream.h"

namespace gvb {

struct StreamWindowRequest {
  StreamKind kind = StreamKind::kRead;
  uint64_t bytes = 0;       // of a buffer, of which a copy has two; 0: eight times the L2 cache, at least 64 MiB
  unsigned blocks = 0;      // of 1024 threads; 0: two a multiprocessor
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW
  uint64_t window_ns = 0;   // in which kernels are launched
};

struct StreamWindow {
  uint64_t bytes = 0;  // of a buffer
  unsigned blocks = 0;
  unsigned multiprocessors = 0;  // that the tenant is told of
  double moved_bytes = 0;        // by a kernel: a copy reads and writes
  double dram_ceiling_gbs = 0;
  double origin_ms = 0;  // of %globaltimer; `from` and `to` are counted from there
  // Of each kernel, from the start of its first block to the end of its last one.
  std::vector<double> from_ns;
  std::vector<double> to_ns;
};

// Throws kInvalidResult where a kernel did not run, or the memory does not hold what it must.
StreamWindow stream_for(DeviceSession& session, const StreamWindowRequest& request);

}  // namespace gvb
