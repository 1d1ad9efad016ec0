// LLM-006: a pipeline of stages, one stream per stage, through which micro-batches pass one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct PipelineRequest {
  unsigned stages = 1;
  unsigned micro_batches = 1;
  uint64_t stage_ns = 0;  // target duration of a stage
  unsigned rounds = 0;    // arithmetic per stage; 0: calibrated to take stage_ns
  unsigned runs = 1;
  unsigned alone = 1;  // stages before each run that have the device to themselves
};

// One value per run. Stage times are by the device's clock, run times by the host's.
struct PipelineRuns {
  unsigned rounds = 0;
  unsigned blocks = 0;             // per stage
  std::vector<double> alone_ns;    // median duration of a stage that had the device to itself
  std::vector<double> run_ns;      // from the first launch until the host knew that the last stage was over
  std::vector<double> device_ns;   // from the start of the first stage to the end of the last
  std::vector<double> stage_ns;    // median duration of a stage in the run
  std::vector<double> at_once;     // average number of stages that ran at the same time
  std::vector<double> handoff_ns;  // median time from the end of what a stage waits for until it starts
};

// Throws kInvalidResult if a stage did not run, did wrong work, or began before what it depends on had ended.
PipelineRuns measure_pipeline(DeviceSession& session, const PipelineRequest& request);

}  // namespace gvb
