// What a victim does while its neighbours fail (IS-010): rounds of work whose results are all compared with what they
// must be, and when each was.
#pragma once

#include <cstdint>

#include "bench/device_session.h"

namespace gvb {

struct RoundsRequest {
  size_t bytes = 0;  // of the block that a round allocates, fills, reads back and frees
  unsigned for_ms = 0;
};

// Times of CLOCK_MONOTONIC_RAW.
struct VerifiedRounds {
  uint64_t rounds = 0;
  uint64_t wrong = 0;  // rounds with another result
  int64_t began_ns = 0;
  int64_t ended_ns = 0;  // of the last round
  // The longest time without a verified round, from the begin on.
  int64_t longest_gap_ns = 0;
};

VerifiedRounds verified_rounds(DeviceSession& session, const RoundsRequest& request);

}  // namespace gvb
