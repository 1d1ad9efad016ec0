// How fast copies between pinned memory of the host and the device move data (PCIE-001, PCIE-002), by the device's own
// events: CUDA driver API, cuEventElapsedTime.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/copy_pattern.h"
#include "bench/device_session.h"

namespace gvb {

enum class CopyWay {
  kToDevice,
  kToHost,
  kToDeviceBatch,  // all copies of a sample in one cuMemcpyBatchAsync
  kToHostBatch,
  kBoth,   // one in each direction at the same time, on two streams
  kStore,  // a kernel writes to mapped memory
};

struct CopyRateRequest {
  CopyWay way = CopyWay::kToDevice;
  size_t bytes = 0;   // of a copy, in whole words
  size_t copies = 1;  // of a sample, one behind the other, to memory side by side
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;
};

struct CopyRate {
  // Of each sample, from before its first copy until behind its last. Each sample was verified: on the device every
  // word, on the host a word of every page, and every word of the last one.
  std::vector<double> device_ns;
  std::optional<int> node;  // the NUMA node that the thread and the memory were on; nullopt: not bound to one
};

// Throws kFunctionMissing where the driver or the device lacks the way, kInvalidResult where what was copied is not
// there.
CopyRate measure_copy_rate(DeviceSession& session, const CopyRateRequest& request);

// The host's side of all copies of a session: allocated when first needed, larger when more is needed.
class PinnedBuffers {
 public:
  explicit PinnedBuffers(DeviceSession& session) : cuda_(session.cuda) {}

  // What is copied from, with CopyPattern::kSpareBytes more, and the pattern in it.
  const MappedMemory& source(size_t bytes, const CopyPattern& pattern);
  const MappedMemory& target(size_t bytes);

 private:
  struct Buffer {
    std::optional<MappedMemory> memory;
    size_t bytes = 0;
    uint64_t seed = 0;
  };

  const MappedMemory& of(Buffer& buffer, size_t bytes);

  const Cuda& cuda_;
  Buffer source_, target_;
};

}  // namespace gvb
