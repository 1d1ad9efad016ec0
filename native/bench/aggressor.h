// A tenant that tries to take more than its share of one resource, and shows on the device that it did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// Each stresses one shared resource: multiprocessors, held by blocks of 20 ms; the block scheduler; DRAM; L2; the TLBs;
// instruction issue; the bus in each direction; launch submission; the driver's allocator; contexts; graph submission.
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
  int64_t start_at_ns = 0;   // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once and reports it
  uint64_t window_ns = 0;    // from its start: how long it keeps the resource busy
  uint64_t quota_bytes = 0;  // memory limit that an allocation storm tries to exceed; 0: none
};

struct Aggression {
  // Relative to start_at_ns.
  double started_ns = 0;
  double ended_ns = 0;
  // Operations that the device completed, and the blocks that it counted for them.
  uint64_t operations = 0;
  uint64_t blocks = 0;
  // When operations were found complete, at most once per 256th of the window, or every tenth of a second.
  std::vector<double> marks_ns;
  std::optional<bool> card_full;            // of long kernels: nothing else could start beside them; nullopt: not seen
  uint64_t used_bytes = 0;                  // peak device memory
  std::optional<uint64_t> operation_bytes;  // that each operation copies; nullopt: it does not copy
  // Allocations above the quota: refused, or granted, written and freed at once.
  uint64_t refused = 0;
  uint64_t exceeded = 0;
  std::string missing;  // why it cannot run here; empty: it ran
};

// Throws kInvalidResult if the device did not do what the driver accepted.
Aggression attack(DeviceSession& session, const AggressorRequest& request);

// From any thread, about the attack of this process, which runs one at a time: how many operations are complete so far
// (afterwards, those of the last attack), and ending it before its window is over.
uint64_t attack_operations();
void end_attack();

}  // namespace gvb
