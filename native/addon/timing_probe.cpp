// What a tenant sees of the card's timing.
#include "bench/timing_probe.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<TimingRequest> : FieldsOf<TimingRequest> {
  static constexpr const char* kName = "TimingRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(period_ns).says("From one sample to the next; 0: at once."));
  }
};

template <>
struct Fields<Timings> : FieldsOf<Timings> {
  static constexpr const char* kName = "Timings";
  static constexpr const char* kDoc = "One value per sample.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(started_ns).says("Relative to `startAtNs`."));
    visit(GVB_FIELD(volatile_cycles).as_array().says("Median of loads by `ld.global.cv`, in cycles."));
    visit(GVB_FIELD(acquire_cycles).as_array().says("The same by `ld.acquire.sys`."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time of `cuLaunchKernel`."));
    visit(GVB_FIELD(sync_ns).as_array().says("Time of `cuCtxSynchronize` with nothing to wait for."));
  }
};

namespace {

const Topic timing_probe_topic{
    "Timing",
    {in_session("probeTiming", probe_timing)
         .says("Samples the latency of strong loads, of a launch and of a wait for nothing.")}};

}  // namespace

}  // namespace gvb
