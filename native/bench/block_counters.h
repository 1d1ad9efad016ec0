// Counts on the device the blocks of gvb_occupy and of the kernels of aggressors.cu that ran. Uses several counters, so
// that many short blocks do not queue for one.
#pragma once

#include <array>
#include <numeric>

#include "bench/device_session.h"

namespace gvb {

class BlockCounters {
 public:
  explicit BlockCounters(const Cuda& cuda) : cuda_(cuda), memory_(make_memory(cuda, kBytes)) {
    GVB_CALL(cuda, "clearing the counts of blocks", cuMemsetD8_v2, memory_.get(), 0, kBytes);
    // Launches use streams that do not wait for the default stream.
    GVB_CALL(cuda, "clearing the counts of blocks", cuCtxSynchronize);
  }

  abi::CUdeviceptr device() const { return memory_.get(); }

  // Call once the kernels are over.
  uint64_t read() const {
    std::array<uint64_t, kBytes / sizeof(uint64_t)> counts{};
    GVB_CALL(cuda_, "reading the counts of blocks", cuMemcpyDtoH_v2, counts.data(), memory_.get(), kBytes);
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  }

 private:
  // The layout of kernels/aggressors.cu: 32 counters, 128 bytes apart.
  static constexpr size_t kBytes = size_t{32} * 128;

  const Cuda& cuda_;
  const DeviceMemory memory_;
};

}  // namespace gvb
