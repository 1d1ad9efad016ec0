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
    visit(GVB_FIELD(start_at_ns).says("As `now` says it; a time that has passed starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says("In which kernels are launched, one in flight."));
    visit(GVB_FIELD(period_ns).above_zero().says("From one call to the next."));
    visit(GVB_FIELD(jitter_ns).says("By how much a call is earlier or later at most; below the period."));
    visit(GVB_FIELD(quiet_ns).says("Behind the window, before the clocks are mapped again."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(hold_ns).says("Of the blocks of kernels that this process keeps queued beside; 0: none."));
    visit(GVB_FIELD(queued).above_zero().says("How many of them."));
    visit(GVB_FIELD(prioritised)
              .says("Whether the small kernel's stream has the highest priority, the other the lowest."));
  }
};

template <>
struct Fields<StartDelays> : FieldsOf<StartDelays> {
  static constexpr const char* kName = "StartDelays";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(origin_ms).says("Of the device's clock."));
    visit(GVB_FIELD(called_ns).as_array().says("When each launch was called, by the device's clock, from there."));
    visit(GVB_FIELD(delay_ns).as_array().says("From the call to the kernel's first instruction."));
    visit(GVB_FIELD(ahead).as_array().says("Kernels of this process that were not over at the call."));
    visit(GVB_FIELD(mapping));
  }
};

namespace {

const Topic start_delay_topic{"Waits for a busy device",
                              {in_session("startDelays", measure_start_delays)
                                   .says("Launches a small kernel now and then, and says how long each waited.")}};

}  // namespace

}  // namespace gvb
