// A tenant that tries to take more than its share of one resource, and shows on the device that it did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// One shared resource each: multiprocessors held by blocks of 20 ms; the unit that hands out blocks; DRAM; L2; the
// translation of addresses; the issue of instructions; the bus in each direction; the submission of launches; the
// driver's allocator; contexts; the submission of graphs.
enum class AggressorKind {
  kLongKernels,
  kBlockFill,
  kDramStream,
  kL2Thrash,
  kTlbThrash,
  kIssueSlots,
  kCopyToDevice,
  kCopyToHost,
  kLaunchStorm,
  kAllocStorm,
  kContextStorm,
  kGraphStorm,
};

struct AggressorRequest {
  AggressorKind kind = AggressorKind::kLongKernels;
  int64_t start_at_ns = 0;   // CLOCK_MONOTONIC_RAW; a time that has passed starts at once, and says so
  uint64_t window_ns = 0;    // for which it keeps the resource busy
  uint64_t quota_bytes = 0;  // of memory, which an allocation storm tries to exceed; 0: there is none
};

struct Aggression {
  // Relative to start_at_ns.
  double started_ns = 0;
  double ended_ns = 0;
  // That the device was seen to have completed, and the blocks that it counted for them.
  uint64_t operations = 0;
  uint64_t blocks = 0;
  std::vector<double> marks_ns;  // when operations were seen to be over, at most every 256th part of the window
  uint64_t used_bytes = 0;       // most device memory that it held at a time
  std::optional<uint64_t> operation_bytes;  // that each operation copies; nullopt: it does not copy
  // Of allocations above the quota: refused, or granted, written, and given back at once.
  uint64_t refused = 0;
  uint64_t exceeded = 0;
  std::string missing;  // why it cannot run here; empty: it ran
};

// Throws kInvalidResult where the device did not do what the driver accepted.
Aggression attack(DeviceSession& session, const AggressorRequest& request);

}  // namespace gvb
