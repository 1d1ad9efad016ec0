// How the throughput of a linear layer grows with the batch (LLM-003): one token costs the reading of the weights, and
// so do many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/llm/weight_stack.h"

namespace gvb {

struct BatchScalingRequest {
  unsigned n = 0, k = 0, layers = 0;  // 0: as StackShape says
  uint64_t stream_bytes = 0;  // of the buffer whose reading gives the rate of the memory; 0: as stream_bytes says
  uint64_t seed = 0;
  unsigned rounds = 1;  // in each of which all batches have their turn, in an order of chance
  // Of a batch's turn.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
};

struct BatchRow {
  unsigned batch = 0;
  std::string variant;
  double flops = 0, bytes = 0;    // of a launch
  std::vector<double> launch_ns;  // of each round
  std::string checksum;           // of a layer's outputs
};

struct BatchScaling {
  std::string unsupported;  // why there is nothing else; empty: there is
  unsigned n = 0, k = 0, layers = 0;
  std::vector<BatchRow> batches;
  double stream_bytes = 0;
  std::vector<double> stream_ns;  // of reading them, several times
  // 2 × clock × width of the bus, as the driver says; nullopt where it does not.
  std::optional<double> memory_ceiling_gbs;
  std::optional<unsigned> sm_clock_mhz;  // under the load of the largest batch
};

BatchScaling measure_batch_scaling(DeviceSession& session, const BatchScalingRequest& request);

}  // namespace gvb
