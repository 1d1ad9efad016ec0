// How the throughput of a linear layer grows with the batch (LLM-003): one token costs reading the weights, and many
// tokens cost little more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/llm/weight_stack.h"

namespace gvb {

struct BatchScalingRequest {
  unsigned n = 0, k = 0, layers = 0;  // 0: defaults of StackShape
  uint64_t stream_bytes = 0;          // buffer whose reading gives the memory bandwidth; 0: stream_bytes()
  uint64_t seed = 0;
  unsigned rounds = 1;  // each round measures all batches, in random order
  // Limits of one batch's turn.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
};

struct BatchRow {
  unsigned batch = 0;
  std::string variant;
  double flops = 0, bytes = 0;    // per launch
  std::vector<double> launch_ns;  // per round
  std::string checksum;           // of a layer's outputs
};

struct BatchScaling {
  std::string unsupported;  // why there is no result; empty: there is one
  unsigned n = 0, k = 0, layers = 0;
  std::vector<BatchRow> batches;
  double stream_bytes = 0;
  std::vector<double> stream_ns;  // times of reading them
  // 2 × clock × bus width, as the driver reports them; nullopt if it does not.
  std::optional<double> memory_ceiling_gbs;
  std::optional<unsigned> sm_clock_mhz;  // under the load of the largest batch
};

BatchScaling measure_batch_scaling(DeviceSession& session, const BatchScalingRequest& request);

}  // namespace gvb
