// One process as checkpoint controllers and the process itself share it. A controller is any process of the region;
// what has to happen in the address space of the target is done by a thread there, which waits for requests.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/cuda_abi.h"
#include "sim/settings.h"

namespace gvb::sim {

enum class CheckpointStep : int { kCheckpoint, kRestore };

// Expects zeroed memory. The 32-bit numbers are futexes of all processes.
struct Checkpointing {
  std::atomic<int> state;          // abi::CUprocessState
  std::atomic<int> thread;         // the waiting thread; 0: the process has had no context
  std::atomic<uint32_t> closed;    // 1: new driver calls of the process wait
  std::atomic<uint32_t> inside;    // its threads that are in a driver call
  std::atomic<uint32_t> asked;     // number of requests
  std::atomic<uint32_t> answered;  // number of answers
  std::atomic<int> controller;     // whose call is in progress; 0: none. One that is killed stays
  CheckpointStep step;
  abi::CUresult code;
  // What the process had on the cards, while it is checkpointed.
  int64_t used[kMaxDevices];
  int contexts[kMaxDevices];

  void reset();
  abi::CUprocessState now() const { return static_cast<abi::CUprocessState>(state.load()); }
};

// Waits while the word has this value, for at most so long. May return early.
void wait_on(const std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds);
void wake_all(std::atomic<uint32_t>& word);

}  // namespace gvb::sim
