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
  size_t bytes = 0;   // size of a copy, in whole words
  size_t copies = 1;  // copies per sample, one after the other, to adjacent memory
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;
};

struct CopyRate {
  // Duration of each sample, from before its first copy until after its last. Each sample was verified: on the device
  // every word, on the host one word per page, and every word of the last sample.
  std::vector<double> device_ns;
  std::optional<int> node;  // NUMA node to which the thread and the memory were bound; nullopt: not bound
};

// Throws kFunctionMissing if the driver or the device does not support the way, kInvalidResult if the copied data did
// not arrive.
CopyRate measure_copy_rate(DeviceSession& session, const CopyRateRequest& request);

// The pinned host buffers of a session's copies: allocated at first use, and replaced if more memory is needed.
class PinnedBuffers {
 public:
  explicit PinnedBuffers(DeviceSession& session) : cuda_(session.cuda) {}

  // The source of copies: `bytes` and CopyPattern::kSpareBytes more, filled with the pattern.
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
