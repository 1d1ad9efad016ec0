// One call of a checkpoint controller: a process that locks, checkpoints, restores and unlocks another one. It needs
// cuInit and creates no context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/target.h"
#include "driver/cuda_abi.h"

namespace gvb {

enum class CheckpointCall { kState, kRestoreThread, kLock, kCheckpoint, kRestore, kUnlock };

struct CheckpointRequest : Target {
  SymbolPath path = SymbolPath::kRuntime;
  unsigned pid = 1;
  CheckpointCall call = CheckpointCall::kState;
  unsigned timeout_ms = 0;  // of a lock; 0: no limit
};

struct CheckpointAnswer {
  abi::CUresult code = 0;
  std::string name;
  double called_ns = 0;  // when, on the clock of now_ns
  double took_ns = 0;
  std::optional<int> state;   // abi::CUprocessState, where it was asked for
  std::optional<int> thread;  // the thread of the process that restores, where it was asked for
};

// A code that is not 0 is an answer. Throws kFunctionMissing, before any call, if the driver lacks the function or one
// of those that a whole turn needs.
CheckpointAnswer call_checkpoint(const CheckpointRequest& request);

}  // namespace gvb
