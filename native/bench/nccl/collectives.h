// How long collectives take in bursts of which every result is verified (NCCL-001, NCCL-002, NCCL-004).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class Collective { kAllReduce, kAllGather, kBroadcast };

struct CollectivesRequest {
  Collective collective = Collective::kAllReduce;
  unsigned ranks = 2, rank = 0;
  unsigned root = 0;  // of a broadcast
  size_t bytes = 0;   // of a result, on each rank
  unsigned operations = 1;
  unsigned bursts = 1, warmup = 0;
  uint64_t seed = 0;  // of what is sent, the same on all ranks
};

struct CollectiveTimes {
  std::string failure;  // NCCL's error; empty: none
  // Duration of each burst, from a meeting of all ranks until this one knew that its last collective was over.
  std::vector<double> host_ns;
  std::vector<double> device_ns;  // between events around them
  // Words of the results of all bursts that were looked at, and those that are not what they must be.
  uint64_t words = 0, wrong = 0;
};

// All ranks must be asked at the same time, each with a deadline. Every collective of a burst has a result of its own,
// so that one that was skipped shows.
CollectiveTimes run_collectives(DeviceSession& session, const CollectivesRequest& request);

}  // namespace gvb
