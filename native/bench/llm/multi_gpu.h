// The duration of steps of a transformer block that several ranks share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct ShardRequest {
  unsigned ranks = 1, rank = 0;
  unsigned tokens = 0, hidden = 0, mlp = 0;  // multiples of 16 times the ranks
  uint64_t seed = 0;                         // for input and weights
};

struct PreparedShard {
  std::string variant;         // for the matrix products
  double flops = 0;            // per step, on this rank
  uint64_t weight_bytes = 0;   // on this rank
  uint64_t reduced_bytes = 0;  // added up by a step's all-reduces
};

enum class StepKind { kBlock, kReduce };

struct StepsRequest {
  unsigned ranks = 1;  // selects one of the session's blocks
  StepKind kind = StepKind::kBlock;
  unsigned steps = 1;
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once
};

struct StepTimes {
  std::string failure;  // NCCL's error; empty: none
  // Relative to start_at_ns: after an all-reduce that started all ranks together, and when the last step was over.
  double began_ns = 0, ended_ns = 0;
  double device_ns = 0;  // between events around the steps
};

struct SampleRequest {
  unsigned ranks = 1;
  uint64_t seed = 0;  // for the places
};

struct BlockSample {
  unsigned elements = 0;      // elements of products compared with double precision
  double worst_allowed = 0;   // the largest difference, relative to the allowed rounding error
  std::vector<double> parts;  // at sampled places of both results, before the all-reduces
  std::vector<double> sums;   // after them
};

// Creates this rank's part of a block in the session and replaces the one for the same number of ranks.
PreparedShard prepare_shard(DeviceSession& session, const ShardRequest& request);

// Overwrites the results of earlier steps first. With several ranks all must be asked at the same time, each with a
// deadline. Throws kInvalidResult if products did not run.
StepTimes run_steps(DeviceSession& session, const StepsRequest& request);

// Samples the last step's results. Throws kInvalidResult if products are wrong.
BlockSample sample_block(DeviceSession& session, const SampleRequest& request);

}  // namespace gvb
