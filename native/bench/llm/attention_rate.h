// How fast attention forward runs on random inputs, with a check of its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct AttentionRequest {
  Number number = Number::kF16;
  unsigned head_dim = 0, heads = 0, kv_heads = 0, length = 0;
  unsigned batch = 0;  // 0: at least four heads per multiprocessor, within a quarter of the free memory
  bool causal = false;
  unsigned batches = 1;  // batches of launches, each timed
  // Limits of a batch.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
  uint64_t seed = 0;  // for the inputs
};

struct AttentionRate {
  std::string variant, compute_capability;
  unsigned multiprocessors = 0;
  unsigned batch = 0;             // sequences
  double launch_flops = 0;        // per launch
  double launch_bytes = 0;        // the launch's operands, each counted once
  std::vector<double> launch_ns;  // per batch
  unsigned launches = 0;          // per batch
  // The highest reading while launches ran; only NVML reports it.
  std::optional<unsigned> sm_clock_mhz;
  unsigned sampled_rows = 0;
  double worst_error = 0;  // over sampled rows, against double precision, relative to the row's largest value
  std::string checksum;    // of the whole output
};

// Throws kInvalidResult if a launch did not run or the output is wrong.
AttentionRate measure_attention(DeviceSession& session, const AttentionRequest& request);

}  // namespace gvb
