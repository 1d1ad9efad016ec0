// Attention forward.
#include "addon/topic.h"
#include "bench/llm/attention_rate.h"

namespace gvb {

namespace {

const Choices<Number> kAttentionNumbers{"", {{Number::kF16, "fp16"}, {Number::kBf16, "bf16"}}};

}  // namespace

template <>
struct Fields<AttentionRequest> : FieldsOf<AttentionRequest> {
  static constexpr const char* kName = "AttentionRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(number).one_of(kAttentionNumbers));
    visit(GVB_FIELD(head_dim).above_zero().says("64 or 128."));
    visit(GVB_FIELD(heads).above_zero());
    visit(GVB_FIELD(kv_heads).above_zero());
    visit(GVB_FIELD(length).above_zero().says("Tokens per sequence."));
    visit(GVB_FIELD(batch).says(
        "Number of sequences; 0: at least four heads per multiprocessor, within a quarter of the free memory."));
    visit(GVB_FIELD(causal));
    visit(GVB_FIELD(batches).above_zero().says("Number of timed batches of launches."));
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum number of launches per batch."));
    visit(GVB_FIELD(least_ns).says("Minimum duration of a batch."));
    visit(GVB_FIELD(seed).says("Seed of the inputs."));
  }
};

template <>
struct Fields<AttentionRate> : FieldsOf<AttentionRate> {
  static constexpr const char* kName = "AttentionRate";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(compute_capability));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(batch).says("Number of sequences."));
    visit(GVB_FIELD(launch_flops)
              .says("Operations per launch: 4 · head dimension for each pair of a query and a key that it sees."));
    visit(GVB_FIELD(launch_bytes).says("Size of a launch's operands in bytes, each counted once."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each batch."));
    visit(GVB_FIELD(launches).says("Launches per batch."));
    visit(GVB_FIELD(sm_clock_mhz).says("Highest SM clock while launches ran; null if NVML does not report it."));
    visit(GVB_FIELD(sampled_rows));
    visit(GVB_FIELD(worst_error)
              .says("Largest error of sampled rows against double precision, relative to the row's largest value."));
    visit(GVB_FIELD(checksum).says("Checksum of the whole output."));
  }
};

namespace {

const Topic attention_topic{
    "Attention",
    {in_session("attention", measure_attention)
         .says("Repeats attention forward. Rejects if a launch did not run or the output is wrong.")}};

}  // namespace

}  // namespace gvb
