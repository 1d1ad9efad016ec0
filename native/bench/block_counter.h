// Counts on the device the blocks of gvb_count and gvb_occupy that ran, so that a launch which reports success without
// running is not taken for a fast one.
#pragma once

#include <string>

#include "bench/device_session.h"

namespace gvb {

class BlockCounter {
 public:
  explicit BlockCounter(const Cuda& cuda) : cuda_(cuda), memory_(make_memory(cuda, sizeof(uint64_t))) {
    GVB_CALL(cuda_, "clearing the count of blocks", cuMemsetD8_v2, memory_.get(), 0, sizeof(uint64_t));
    // Launches use streams that do not wait for the default stream.
    GVB_CALL(cuda_, "clearing the count of blocks", cuCtxSynchronize);
  }

  abi::CUdeviceptr device() const { return memory_.get(); }

  // Waits for all launches so far.
  uint64_t ran() const {
    uint64_t blocks = 0;
    GVB_CALL(cuda_, "waiting for counted kernels", cuCtxSynchronize);
    GVB_CALL(cuda_, "reading the count of blocks", cuMemcpyDtoH_v2, &blocks, memory_.get(), sizeof blocks);
    return blocks;
  }

  // Throws kInvalidResult if the device did not run all the blocks that `call` accepted.
  void check(uint64_t launched, const char* call) const {
    const uint64_t blocks = ran();
    if (blocks == launched) return;
    throw Failure(FailureKind::kInvalidResult, std::string("a call reported success without doing its work: ") + call +
                                                   " accepted kernels of " + std::to_string(launched) +
                                                   " blocks, the device ran " + std::to_string(blocks) + ".");
  }

 private:
  const Cuda& cuda_;
  const DeviceMemory memory_;
};

}  // namespace gvb
