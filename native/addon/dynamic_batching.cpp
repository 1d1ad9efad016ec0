// A server that batches waiting requests.
#include "bench/llm/dynamic_batching.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<DynamicBatchingRequest> : FieldsOf<DynamicBatchingRequest> {
  static constexpr const char* kName = "DynamicBatchingRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(window_ns).above_zero().says("In which sequences arrive."));
    visit(GVB_FIELD(grace_ns).says("For how long after the window those are still served."));
    visit(GVB_FIELD(most_steps).says("After which the window ends early; 0: it does not."));
    visit(GVB_FIELD(most_batch).above_zero().says("At most 64."));
    visit(GVB_FIELD(arrivals_per_s).says("Sequences; 0: `load` of the capacity."));
    visit(GVB_FIELD(load).says("Share of the capacity, which is measured before the start."));
    visit(GVB_FIELD(n).says("As in BatchScalingRequest."));
    visit(GVB_FIELD(k));
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(seed).says("Seed of weights, inputs and arrivals."));
  }
};

template <>
struct Fields<DynamicBatching> : FieldsOf<DynamicBatching> {
  static constexpr const char* kName = "DynamicBatching";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unsupported).or_null().says("Why nothing was measured; null: it was."));
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(n));
    visit(GVB_FIELD(k));
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(capacity_per_s).says("Sequences, in steps of the largest batch; null if arrivals were given."));
    visit(GVB_FIELD(arrivals_per_s));
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(offered).says("Sequences that arrived."));
    visit(GVB_FIELD(served));
    visit(GVB_FIELD(step_at_ns).as_array().says("When each step began."));
    visit(GVB_FIELD(step_ns).as_array().says("From before its first launch until the host knew that it was over."));
    visit(GVB_FIELD(step_batch).as_array().says("Sequences in it."));
    visit(GVB_FIELD(queue_ns).as_array().says(
        "How long sequences waited for their step to begin: each, or at most 20000 evenly chosen ones."));
  }
};

namespace {

const Topic dynamic_batching_topic{
    "Dynamic batching",
    {in_session("dynamicBatching", measure_dynamic_batching)
         .says("Serves sequences that arrive at random, all that wait in one batch; rejects if outputs "
               "are wrong.")}};

}  // namespace

}  // namespace gvb
