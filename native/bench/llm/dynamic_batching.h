// A server that batches waiting requests (LLM-009): sequences arrive at random, and each step takes all that are
// waiting, up to a largest batch, through every layer of a stack. The loop is native because it measures its own
// jitter.
#pragma once

#include <string>
#include <vector>

#include "bench/llm/weight_stack.h"

namespace gvb {

struct DynamicBatchingRequest {
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once
  uint64_t window_ns = 0;   // how long sequences arrive
  uint64_t grace_ns = 0;    // how long after it waiting sequences are still served
  unsigned most_steps = 0;  // the window ends early after this many; 0: no limit
  unsigned most_batch = 1;
  double arrivals_per_s = 0;  // 0: the capacity, measured before the start, times `load`
  double load = 0;
  unsigned n = 0, k = 0, layers = 0;  // see StackShape
  uint64_t seed = 0;                  // for weights, inputs and arrivals
};

// Times are relative to start_at_ns.
struct DynamicBatching {
  std::string unsupported;  // why there is no result; empty: there is one
  std::string variant;
  unsigned n = 0, k = 0, layers = 0;
  std::optional<double> capacity_per_s;  // sequences per second, in back-to-back steps of the largest batch
  double arrivals_per_s = 0;
  double started_ns = 0, ended_ns = 0;
  uint64_t offered = 0, served = 0;
  // Per step: when it began, the time from before its first launch until the host knew that it was over, and its number
  // of sequences.
  std::vector<double> step_at_ns, step_ns, step_batch;
  // How long sequences waited for their step to begin; all of them, or an even selection.
  std::vector<double> queue_ns;
};

// Throws kInvalidResult if a launch did not run or an output is wrong.
DynamicBatching measure_dynamic_batching(DeviceSession& session, const DynamicBatchingRequest& request);

}  // namespace gvb
