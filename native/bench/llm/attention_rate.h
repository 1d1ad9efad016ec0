// How fast attention forward runs, on random inputs, with a look at whether it computed what it must.
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
  unsigned batch = 0;  // 0: at least four heads a multiprocessor, within a quarter of the free memory
  bool causal = false;
  unsigned batches = 1;  // of launches, each timed
  // Of a batch.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
  uint64_t seed = 0;  // of the inputs
};

struct AttentionRate {
  std::string variant, compute_capability;
  unsigned multiprocessors = 0;
  unsigned batch = 0;             // sequences
  double launch_flops = 0;        // of a launch
  double launch_bytes = 0;        // of its operands, each once
  std::vector<double> launch_ns;  // of each batch
  unsigned launches = 0;          // in a batch
  // The highest of the readings while launches ran, which only NVML gives.
  std::optional<unsigned> sm_clock_mhz;
  unsigned sampled_rows = 0;
  double worst_error = 0;  // of sampled rows against double precision, relative to the row's largest value
  std::string checksum;    // of the whole output
};

// Throws kInvalidResult where a launch did not run or the output is wrong.
AttentionRate measure_attention(DeviceSession& session, const AttentionRequest& request);

}  // namespace gvb
