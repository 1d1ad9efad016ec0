// What a target of checkpoints holds, and how it shows that all of it is as before: memory with random content in
// several allocations, a graph, a stream and an event.
#pragma once

#include <cstdint>

#include "bench/device_session.h"

namespace gvb {

struct CheckpointHoldRequest {
  uint64_t bytes = 0;        // in all allocations together
  unsigned allocations = 0;  // 0 only where bytes are 0
};

struct CheckpointHold {
  uint64_t bytes = 0;
  unsigned allocations = 0;
};

// Replaces what an earlier call holds. The session holds it until it is released or the process ends.
CheckpointHold hold_for_checkpoint(DeviceSession& session, const CheckpointHoldRequest& request);

struct CheckpointVerified {
  bool checksums = false;  // all equal to those after the fill
  bool addresses = false;  // every allocation begins where it did and has its size
  bool graph = false;      // launched, its kernel writes what it did before
  bool stream = false;
  bool event = false;
  double first_result_ns = 0;  // from the call to the first result of a kernel that the host sees
};

CheckpointVerified verify_after_checkpoint(DeviceSession& session);

struct CheckpointWorkRequest {
  unsigned ms = 1;
};

// Times of CLOCK_MONOTONIC_RAW.
struct CheckpointWork {
  int64_t submitted_ns = 0;  // when the launch call was made
  double estimated_ns = 0;   // how long the work takes on the device
};

// Submits work of that length to the held stream and does not wait for it.
CheckpointWork submit_checkpoint_work(DeviceSession& session, const CheckpointWorkRequest& request);

// Waits for the work, and frees everything.
CheckpointHold release_after_checkpoint(DeviceSession& session);

}  // namespace gvb
