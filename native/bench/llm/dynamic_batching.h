// A server that batches what waits (LLM-009): sequences arrive at random, each step takes all that are waiting, up to a
// largest batch, through every layer of a stack. The loop is here and not in JavaScript: its own jitter is what is
// measured.
#pragma once

#include <string>
#include <vector>

#include "bench/llm/weight_stack.h"

namespace gvb {

struct DynamicBatchingRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; a time that has passed starts at once
  uint64_t window_ns = 0;   // in which sequences arrive
  uint64_t grace_ns = 0;    // for which those are still served after it
  unsigned most_steps = 0;  // after which the window ends early; 0: it does not
  unsigned most_batch = 1;
  double arrivals_per_s = 0;  // 0: `load` of the capacity, which is measured before the start
  double load = 0;
  unsigned n = 0, k = 0, layers = 0;  // as StackShape has them
  uint64_t seed = 0;                  // of weights, inputs and arrivals
};

// Times are relative to start_at_ns.
struct DynamicBatching {
  std::string unsupported;  // why there is nothing else; empty: there is
  std::string variant;
  unsigned n = 0, k = 0, layers = 0;
  std::optional<double> capacity_per_s;  // sequences, in steps of the largest batch one after the other
  double arrivals_per_s = 0;
  double started_ns = 0, ended_ns = 0;
  uint64_t offered = 0, served = 0;
  // Of each step: when it began, from before its first launch until the host knew that it was over, how many sequences.
  std::vector<double> step_at_ns, step_ns, step_batch;
  // What sequences waited for their step to begin: of each, or of evenly chosen ones.
  std::vector<double> queue_ns;
};

// Throws kInvalidResult where a launch did not run or an output is wrong.
DynamicBatching measure_dynamic_batching(DeviceSession& session, const DynamicBatchingRequest& request);

}  // namespace gvb
