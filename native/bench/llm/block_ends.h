// Checks that blocks of device memory hold what kernels write to them: a different word at both ends of each.
#pragma once

#include <vector>

#include "bench/device_session.h"

namespace gvb {

class BlockEnds {
 public:
  BlockEnds(DeviceSession& session, size_t most_blocks, abi::CUstream stream);
  ~BlockEnds() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_); }
  BlockEnds(const BlockEnds&) = delete;
  BlockEnds& operator=(const BlockEnds&) = delete;

  // One kernel writes to all blocks, then another one reads them, so two blocks that share memory cannot both pass. The
  // words differ from call to call, so old ones do not pass either. Waits for the stream. Throws kInvalidResult if a
  // block does not hold its words.
  void verify(const std::vector<abi::CUdeviceptr>& blocks, size_t bytes);

 private:
  void launch(abi::CUfunction kernel, void** parameters, unsigned words);

  const Cuda& cuda_;
  const abi::CUstream stream_;
  const size_t most_blocks_;
  // The blocks' addresses, followed by what was read from them.
  const MappedMemory page_;
  const abi::CUfunction write_, read_;
  unsigned seed_;
};

}  // namespace gvb
