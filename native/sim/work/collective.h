// The interface through which the simulated NCCL, a separate library, uses the simulated driver in the same process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/cuda_abi.h"

namespace gvb::sim {

// A collective's work on the stream of one rank.
struct CollectiveWork {
  const void* from;
  size_t from_bytes;  // 0: this rank sends nothing
  void* to;
  size_t to_bytes;
  int64_t not_before;
  double nanoseconds;
  // Called when the result is first read; never if it is overwritten before that.
  void (*run)(void* state);
  // Receives the times of the device once they are known.
  void (*placed)(void* state, int64_t begins, int64_t ends);
  void (*drop)(void* state);
  void* state;
};

// Returns the card of the calling thread's context; -1 without one. From then on a host that waits for this context's
// work waits in real time, because ranks in other processes depend on the card's time.
using JoinCollectives = int (*)();
// The time at which all work submitted to the stream is over.
using EndOfStream = abi::CUresult (*)(abi::CUstream stream, int64_t* end);
using SubmitCollective = abi::CUresult (*)(abi::CUstream stream, const CollectiveWork* work);

constexpr const char* kJoinCollectives = "gvbSimJoinCollectives";
constexpr const char* kEndOfStream = "gvbSimEndOfStream";
constexpr const char* kSubmitCollective = "gvbSimSubmitCollective";

}  // namespace gvb::sim
