// Lets all ranks of a communicator begin together: none goes on before the last one has come.
#pragma once

#include <string>

#include "bench/nccl/ranks.h"

namespace gvb {

class RankMeeting {
 public:
  explicit RankMeeting(DeviceSession& session);

  // Waits for the stream's work too. Returns NCCL's error; empty: none.
  std::string meet(abi::CUstream stream) const;

 private:
  const Cuda& cuda_;
  const Ranks& ranks_;
  const DeviceMemory memory_;
};

}  // namespace gvb
