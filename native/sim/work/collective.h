// What the simulated NCCL, a library of its own, asks of the simulated driver that is loaded beside it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/cuda_abi.h"

namespace gvb::sim {

// Work of a collective on the stream of one rank.
struct CollectiveWork {
  const void* from;
  void* to;
  size_t bytes;
  int64_t not_before;
  double nanoseconds;
  // Called when the result is first read; never where it is overwritten before.
  void (*run)(void* state);
  void (*drop)(void* state);
  void* state;
};

// The card of the calling thread's context; -1 without one. From here on a host that waits for this context's work
// waits until the card's time has come: ranks meet in it.
using JoinCollectives = int (*)();
// When all that was submitted to the stream is over.
using EndOfStream = abi::CUresult (*)(abi::CUstream stream, int64_t* end);
using SubmitCollective = abi::CUresult (*)(abi::CUstream stream, const CollectiveWork* work);

constexpr const char* kJoinCollectives = "gvbSimJoinCollectives";
constexpr const char* kEndOfStream = "gvbSimEndOfStream";
constexpr const char* kSubmitCollective = "gvbSimSubmitCollective";

}  // namespace gvb::sim
