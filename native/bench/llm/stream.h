// The rates of the device's memory, by kernels that only read, write or copy a buffer much larger than the L2 cache.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class StreamKind { kRead, kWrite, kCopy };

struct StreamRequest {
  StreamKind kind = StreamKind::kRead;
  uint64_t bytes = 0;  // size of a buffer, a multiple of 32 KiB; 0: stream_bytes()
  unsigned batches = 1;
  // Limits of a batch.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
};

struct StreamTimes {
  double moved_bytes = 0;         // per launch: a copy reads and writes
  std::vector<double> launch_ns;  // per batch
};

// Eight times the L2 cache and at least 1 GiB, if a quarter of the free memory allows that; a multiple of 2 MiB.
uint64_t stream_bytes(const DeviceSession& session);

// Peak bandwidth in GB/s from the memory's clock and bus width; 0: the driver does not report them.
double dram_ceiling_gbs(const DeviceSession& session);

// Throws kInvalidResult if a launch did not run, or if the memory does not hold the expected values.
StreamTimes measure_stream(DeviceSession& session, const StreamRequest& request);

}  // namespace gvb
