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
    visit(
        GVB_FIELD(hidden).above_zero().says("Columns of the activations; a multiple of 16 times the number of ranks."));
    visit(GVB_FIELD(mlp).above_zero().says(
        "Columns between the projections of the MLP; a multiple of 16 times the number of ranks."));
    visit(GVB_FIELD(seed).says("Seed of input and weights."));
  }
};

template <>
struct Fields<PreparedShard> : FieldsOf<PreparedShard> {
  static constexpr const char* kName = "PreparedShard";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(variant).says("Kernel variant of the matrix products."));
    visit(GVB_FIELD(flops).says("Operations per step on this rank."));
    visit(GVB_FIELD(weight_bytes).says("Size of the weights on this rank, in bytes."));
    visit(GVB_FIELD(reduced_bytes).says("Bytes that a step's all-reduces sum up."));
  }
};

template <>
struct Fields<StepsRequest> : FieldsOf<StepsRequest> {
  static constexpr const char* kName = "StepsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ranks).above_zero().says("Selects the session's block for this number of ranks."));
    visit(GVB_FIELD(kind).one_of(kStepKinds));
    visit(GVB_FIELD(steps).above_zero());
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
  }
};

template <>
struct Fields<StepTimes> : FieldsOf<StepTimes> {
  static constexpr const char* kName = "StepTimes";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(failure).or_null().says("Error of NCCL."));
    visit(GVB_FIELD(began_ns).says("Time after an all-reduce that starts all ranks together."));
    visit(GVB_FIELD(ended_ns).says("When the host knew that the last step was over."));
    visit(GVB_FIELD(device_ns).says("Time between the events around the steps."));
  }
};

template <>
struct Fields<SampleRequest> : FieldsOf<SampleRequest> {
  static constexpr const char* kName = "SampleRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ranks).above_zero().says("Selects the session's block for this number of ranks."));
    visit(GVB_FIELD(seed).says("Seed of the sampled places."));
  }
};

template <>
struct Fields<BlockSample> : FieldsOf<BlockSample> {
  static constexpr const char* kName = "BlockSample";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(elements).says("Number of elements compared with double precision."));
    visit(GVB_FIELD(worst_allowed).says("Largest difference, relative to the allowed rounding error."));
    visit(GVB_FIELD(parts).as_array().says("Values at sampled places of both results, before the all-reduces."));
    visit(GVB_FIELD(sums).as_array().says("Values at the same places after the all-reduces."));
  }
};

namespace {

const Topic multi_gpu_topic{
    "A transformer block on several GPUs",
    {in_session("prepareShard", prepare_shard)
         .says("Keeps a rank's part of a transformer block in the session, beside those for other numbers of ranks."),
     in_session("runSteps", run_steps)
         .says("Times steps of the block, or only its all-reduces. Rejects if work was skipped."),
     in_session("sampleBlock", sample_block)
         .says("Values that the last step computed. Rejects if matrix products are wrong.")}};

}  // namespace

}  // namespace gvb
