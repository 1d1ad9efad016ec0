// Bursts of launches.
#include "bench/launch_burst.h"

#include "addon/core_field.h"
#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<BurstCall> kBurstCalls{"BurstCall",
                                     {{BurstCall::kKernel, "cuLaunchKernel"},
                                      {BurstCall::kKernelEx, "cuLaunchKernelEx"},
                                      {BurstCall::kGraph, "cuGraphLaunch"}}};

}  // namespace

template <>
struct Fields<BurstRequest> : FieldsOf<BurstRequest> {
  static constexpr const char* kName = "BurstRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(call).one_of(kBurstCalls));
    visit(GVB_FIELD(launches).above_zero().says("Of a burst, over all threads."));
    visit(GVB_FIELD(nodes).above_zero().says("Kernels of a launch; above 1 for graphs alone."));
    visit(GVB_FIELD(threads).above_zero().says("That launch at the same time; 1: the measurement's own."));
    visit(GVB_FIELD(streams).above_zero().says("Of each thread, in turn."));
    visit(GVB_FIELD(bursts).above_zero());
    visit(GVB_FIELD(warmup).says("Launches of each thread before the first burst."));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

template <>
struct Fields<LaunchBursts> : FieldsOf<LaunchBursts> {
  static constexpr const char* kName = "LaunchBursts";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kernels).says("Of a burst."));
    visit(GVB_FIELD(total_ns).says("Of each burst: from the first call until every wait has returned."));
    visit(GVB_FIELD(submit_ns).says("Until the last launch call has returned."));
    visit(GVB_FIELD(device_ns).says("Of a kernel of a graph, by the device's clock; null of other calls."));
    visit(GVB_FIELD(core).says("The processor it was on; null with several threads or where none could be chosen."));
  }
};

namespace {

const Topic launch_burst_topic{
    "Bursts of launches",
    {in_session("launchBursts", measure_bursts)
         .says("Launches one behind the other without a wait in between, and one wait at their end.")}};

}  // namespace

}  // namespace gvb
