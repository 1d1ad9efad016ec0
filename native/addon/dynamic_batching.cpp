// A server that batches waiting requests.
#include "bench/llm/dynamic_batching.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<DynamicBatchingRequest> : FieldsOf<DynamicBatchingRequest> {
  static constexpr const char* kName = "DynamicBatchingRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says("Time during which sequences arrive."));
    visit(GVB_FIELD(grace_ns).says("Time after the window during which waiting sequences are still served."));
    visit(GVB_FIELD(most_steps).says("Number of steps after which the window ends early; 0: no limit."));
    visit(GVB_FIELD(most_batch).above_zero().says("Largest batch; at most 64."));
    visit(GVB_FIELD(arrivals_per_s).says("Sequences that arrive per second; 0: `load` times the capacity."));
    visit(GVB_FIELD(load).says("Fraction of the capacity, which is measured before the start."));
    visit(GVB_FIELD(n).says("Rows, columns and layers as in BatchScalingRequest."));
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
    visit(GVB_FIELD(unsupported).or_null().says("Reason why nothing was measured; null: it was measured."));
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(n));
    visit(GVB_FIELD(k));
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(capacity_per_s)
              .says("Sequences per second in back-to-back steps of the largest batch; null if the request set the "
                    "arrivals."));
    visit(GVB_FIELD(arrivals_per_s));
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(offered).says("Sequences that arrived."));
    visit(GVB_FIELD(served));
    visit(GVB_FIELD(step_at_ns).as_array().says("Time at which each step began."));
    visit(GVB_FIELD(step_ns).as_array().says(
        "Time from before each step's first launch until the host knew that the step was over."));
    visit(GVB_FIELD(step_batch).as_array().says("Number of sequences in each step."));
    visit(GVB_FIELD(queue_ns).as_array().says(
        "Time that sequences waited for their step to begin: all of them, or at most 20000 evenly spaced ones."));
  }
};

namespace {

const Topic dynamic_batching_topic{"Dynamic batching",
                                   {in_session("dynamicBatching", measure_dynamic_batching)
                                        .says("Serves sequences that arrive at random and puts all that are waiting "
                                              "into one batch. Rejects if outputs are wrong.")}};

}  // namespace

}  // namespace gvb
