// A pipeline over several streams.
#include "bench/llm/pipeline.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<PipelineRequest> : FieldsOf<PipelineRequest> {
  static constexpr const char* kName = "PipelineRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(stages).above_zero());
    visit(GVB_FIELD(micro_batches).above_zero());
    visit(GVB_FIELD(stage_ns).says("Target duration of a stage."));
    visit(GVB_FIELD(rounds).says("Rounds of arithmetic per stage; 0: calibrated so that a stage takes about stageNs."));
    visit(GVB_FIELD(runs).above_zero());
    visit(GVB_FIELD(alone).above_zero().says("Number of stages before each run that have the device to themselves."));
  }
};

template <>
struct Fields<PipelineRuns> : FieldsOf<PipelineRuns> {
  static constexpr const char* kName = "PipelineRuns";
  static constexpr const char* kDoc =
      "One value per run. Stage times are by the device's clock, run times by the host's.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(blocks).says("Blocks per stage."));
    visit(GVB_FIELD(alone_ns).says("Median duration of a stage that had the device to itself."));
    visit(GVB_FIELD(run_ns).says("Time from the first launch until the host knew that the last stage was over."));
    visit(GVB_FIELD(device_ns).says("Time from the start of the first stage to the end of the last."));
    visit(GVB_FIELD(stage_ns).says("Median duration of a stage in the run."));
    visit(GVB_FIELD(at_once).says("Average number of stages that ran at the same time."));
    visit(GVB_FIELD(handoff_ns).says("Median time from the end of what a stage waits for until the stage starts."));
  }
};

namespace {

const Topic pipeline_topic{"Pipelines", {in_session("pipelineRuns", measure_pipeline)}};

}  // namespace

}  // namespace gvb
