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
    visit(GVB_FIELD(stage_ns).says("Duration of a stage to aim for."));
    visit(GVB_FIELD(rounds).says("Rounds of arithmetic in a stage; 0: as many as stageNs takes, which is measured."));
    visit(GVB_FIELD(runs).above_zero());
    visit(GVB_FIELD(alone).above_zero().says("Stages before each run that run alone on the device."));
  }
};

template <>
struct Fields<PipelineRuns> : FieldsOf<PipelineRuns> {
  static constexpr const char* kName = "PipelineRuns";
  static constexpr const char* kDoc = "A value a run. Times of stages by the device's clock, of a run by the host's.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(blocks).says("Number per stage."));
    visit(GVB_FIELD(alone_ns).says("Median stage that ran alone on the device."));
    visit(GVB_FIELD(run_ns).says("From the first launch until the host knew that the last stage was over."));
    visit(GVB_FIELD(device_ns).says("From the beginning of the first stage to the end of the last."));
    visit(GVB_FIELD(stage_ns).says("Median stage of the run."));
    visit(GVB_FIELD(at_once).says("Stages that ran at the same time, on average."));
    visit(GVB_FIELD(handoff_ns).says("Median time between the end of what a stage waits for and its beginning."));
  }
};

namespace {

const Topic pipeline_topic{"Pipelines", {in_session("pipelineRuns", measure_pipeline)}};

}  // namespace

}  // namespace gvb
