// How long a small kernel waits for a busy device.
#include "bench/start_delay.h"

#include "addon/mapping_fields.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<StartDelayRequest> : FieldsOf<StartDelayRequest> {
  static constexpr const char* kName = "StartDelayRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says("Time during which kernels are launched, one in flight."));
    visit(GVB_FIELD(period_ns).above_zero().says("Mean time from one call to the next."));
    visit(GVB_FIELD(jitter_ns).says("Largest random shift of a call, earlier or later; must be below the period."));
    visit(GVB_FIELD(quiet_ns).says("Pause after the window, before the clocks are mapped again."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(hold_ns).says(
        "Duration of a block of the kernels that this process keeps queued in other streams; 0: no such kernels."));
    visit(GVB_FIELD(queued).above_zero().says(
        "Number of these kernels that are kept queued, each in a stream of its own."));
    visit(GVB_FIELD(prioritised)
              .says("Whether the small kernel's stream has the highest priority and the other streams the lowest."));
  }
};

template <>
struct Fields<StartDelays> : FieldsOf<StartDelays> {
  static constexpr const char* kName = "StartDelays";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(origin_ms).says("Time on the device's clock; `calledNs` is relative to it."));
    visit(GVB_FIELD(called_ns).as_array().says("Time of each launch call, on the device's clock."));
    visit(GVB_FIELD(delay_ns).as_array().says("Time from each launch call to the kernel's first instruction."));
    visit(GVB_FIELD(ahead).as_array().says("Kernels of this process that had not ended at the call."));
    visit(GVB_FIELD(card_full).says(
        "Whether nothing else could start beside the kernels that this process keeps queued; null: there are none, or "
        "it could not be seen."));
    visit(GVB_FIELD(mapping));
  }
};

namespace {

const Topic start_delay_topic{
    "Waits for a busy device",
    {in_session("startDelays", measure_start_delays)
         .says("Launches a small kernel at intervals and reports how long each one waited to start.")}};

}  // namespace

}  // namespace gvb
