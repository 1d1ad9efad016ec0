// What a victim does while its neighbours fail (IS-010): rounds of work. Every result is verified, and its time is
// noted.
#pragma once

#include <cstdint>

#include "bench/device_session.h"

namespace gvb {

struct RoundsRequest {
  size_t bytes = 0;  // size of the block that a round allocates, fills, reads back and frees
  unsigned for_ms = 0;
};

// Times of CLOCK_MONOTONIC_RAW.
struct VerifiedRounds {
  uint64_t rounds = 0;
  uint64_t wrong = 0;  // rounds with a wrong result
  int64_t began_ns = 0;
  int64_t ended_ns = 0;  // end of the last round
  // The longest time without a verified round, counted from the start.
  int64_t longest_gap_ns = 0;
};

VerifiedRounds verified_rounds(DeviceSession& session, const RoundsRequest& request);

}  // namespace gvb
