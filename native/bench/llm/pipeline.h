// LLM-006: a pipeline of stages, a stream each, through which micro-batches pass one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct PipelineRequest {
  unsigned stages = 1;
  unsigned micro_batches = 1;
  uint64_t stage_ns = 0;  // what a stage is to take
  unsigned rounds = 0;    // of arithmetic in a stage; 0: as many as stage_ns takes, which is tried out
  unsigned runs = 1;
  unsigned alone = 1;  // stages before each run that have the device to themselves
};

// A value a run. Times of stages by the device's clock, of a run by the host's.
struct PipelineRuns {
  unsigned rounds = 0;
  unsigned blocks = 0;             // of a stage
  std::vector<double> alone_ns;    // median stage that had the device to itself
  std::vector<double> run_ns;      // from the first launch until the host knew that the last stage was over
  std::vector<double> device_ns;   // from the beginning of the first stage to the end of the last
  std::vector<double> stage_ns;    // median stage of the run
  std::vector<double> at_once;     // stages that ran at the same time, on average
  std::vector<double> handoff_ns;  // median time between the end of what a stage waits for and its beginning
};

// Throws kInvalidResult where a stage did not run, did other work than its own, or began before what it depends on had
// ended.
PipelineRuns measure_pipeline(DeviceSession& session, const PipelineRequest& request);

}  // namespace gvb
