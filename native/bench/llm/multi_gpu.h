// Steps of a transformer block that several ranks share, and how long they take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct ShardRequest {
  unsigned ranks = 1, rank = 0;
  unsigned tokens = 0, hidden = 0, mlp = 0;  // multiples of 16 times the ranks
  uint64_t seed = 0;                         // of input and weights
};

struct PreparedShard {
  std::string variant;         // of the matrix products
  double flops = 0;            // of a step, on this rank
  uint64_t weight_bytes = 0;   // of this rank
  uint64_t reduced_bytes = 0;  // that the all-reduces of a step add up
};

enum class StepKind { kBlock, kReduce };

struct StepsRequest {
  unsigned ranks = 1;  // which of the session's blocks
  StepKind kind = StepKind::kBlock;
  unsigned steps = 1;
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; a time that has passed starts at once
};

struct StepTimes {
  std::string failure;  // of NCCL; empty: none
  // Relative to start_at_ns: behind an all-reduce that all ranks began with, and when the last step was over.
  double began_ns = 0, ended_ns = 0;
  double device_ns = 0;  // between events around the steps
};

struct SampleRequest {
  unsigned ranks = 1;
  uint64_t seed = 0;  // of the places
};

struct BlockSample {
  unsigned elements = 0;      // of products that were compared with double precision
  double worst_allowed = 0;   // the largest difference, relative to what its rounding allows
  std::vector<double> parts;  // at places of both results, before the all-reduces
  std::vector<double> sums;   // after them
};

// Keeps this rank's part of a block in the session, in place of one for as many ranks.
PreparedShard prepare_shard(DeviceSession& session, const ShardRequest& request);

// Overwrites the results of earlier steps first. With several ranks all of them must be asked at the same time, each
// with a deadline. Throws kInvalidResult where products did not run.
StepTimes run_steps(DeviceSession& session, const StepsRequest& request);

// What the last step left. Throws kInvalidResult where products are wrong.
BlockSample sample_block(DeviceSession& session, const SampleRequest& request);

}  // namespace gvb
