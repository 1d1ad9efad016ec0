// The transformer block that several ranks share.
#include "bench/llm/multi_gpu.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<StepKind> kStepKinds{"StepKind", {{StepKind::kBlock, "block"}, {StepKind::kReduce, "all-reduces"}}};

}  // namespace

template <>
struct Fields<ShardRequest> : FieldsOf<ShardRequest> {
  static constexpr const char* kName = "ShardRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ranks).above_zero());
    visit(GVB_FIELD(rank));
    visit(GVB_FIELD(tokens).above_zero());
    visit(GVB_FIELD(hidden).above_zero().says("Columns of the activations; a multiple of 16 times the ranks."));
    visit(GVB_FIELD(mlp).above_zero().says("Columns between the projections of the MLP; likewise."));
    visit(GVB_FIELD(seed).says("Of input and weights."));
  }
};

template <>
struct Fields<PreparedShard> : FieldsOf<PreparedShard> {
  static constexpr const char* kName = "PreparedShard";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(variant).says("Variant of the matrix products."));
    visit(GVB_FIELD(flops).says("Per step, on this rank."));
    visit(GVB_FIELD(weight_bytes).says("Size on this rank."));
    visit(GVB_FIELD(reduced_bytes).says("That the all-reduces of a step add up."));
  }
};

template <>
struct Fields<StepsRequest> : FieldsOf<StepsRequest> {
  static constexpr const char* kName = "StepsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ranks).above_zero().says("Which of the session's blocks."));
    visit(GVB_FIELD(kind).one_of(kStepKinds));
    visit(GVB_FIELD(steps).above_zero());
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
  }
};

template <>
struct Fields<StepTimes> : FieldsOf<StepTimes> {
  static constexpr const char* kName = "StepTimes";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(failure).or_null().says("Error of NCCL."));
    visit(GVB_FIELD(began_ns).says("After an all-reduce with which all ranks begin."));
    visit(GVB_FIELD(ended_ns).says("When the host knew that the last step was over."));
    visit(GVB_FIELD(device_ns).says("Between events around the steps."));
  }
};

template <>
struct Fields<SampleRequest> : FieldsOf<SampleRequest> {
  static constexpr const char* kName = "SampleRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ranks).above_zero().says("Which of the session's blocks."));
    visit(GVB_FIELD(seed).says("Of the places."));
  }
};

template <>
struct Fields<BlockSample> : FieldsOf<BlockSample> {
  static constexpr const char* kName = "BlockSample";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(elements).says("Number of elements compared with double precision."));
    visit(GVB_FIELD(worst_allowed).says("The largest difference, relative to what rounding allows."));
    visit(GVB_FIELD(parts).as_array().says("At places of both results, before the all-reduces."));
    visit(GVB_FIELD(sums).as_array().says("After them."));
  }
};

namespace {

const Topic multi_gpu_topic{
    "A transformer block on several GPUs",
    {in_session("prepareShard", prepare_shard)
         .says("Keeps a rank's part of a transformer block in the session, beside those for other numbers of ranks."),
     in_session("runSteps", run_steps)
         .says("How long steps of the block take, or its all-reduces alone; rejects where work was skipped."),
     in_session("sampleBlock", sample_block)
         .says("Numbers that the last step left; rejects where matrix products are wrong.")}};

}  // namespace

}  // namespace gvb
