// The clocks of this process.
#include "addon/clock_fields.h"
#include "addon/topic.h"
#include "base/clock.h"

namespace gvb {

template <>
struct Fields<TimerCalibration> : FieldsOf<TimerCalibration> {
  static constexpr const char* kName = "TimerCalibration";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(resolution_ns).says("Smallest non-zero difference between two readings."));
    visit(GVB_FIELD(pair_cost_ns).says("Median duration of two successive readings."));
  }
};

namespace {

// Does not use the executor, whose thread may be stuck in the driver; this takes no longer than its wait for the first
// 10 ms.
ClockReading clock_reading() { return read_clocks(); }

const Topic clocks_topic{
    "Clocks",
    {at_once("clockReading", clock_reading)
         .says("Compares the clocks of this process with the system call and the processor's counter since the addon "
               "was loaded."),
     at_once("now", now_ns).says("CLOCK_MONOTONIC_RAW in nanoseconds: one time base for all processes of a machine."),
     at_once("timer", calibrate_timer)}};

}  // namespace

}  // namespace gvb
