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
    visit(GVB_FIELD(launches).above_zero().says("Launches per burst, over all threads."));
    visit(GVB_FIELD(nodes).above_zero().says("Kernels per launch; more than 1 only for graphs."));
    visit(GVB_FIELD(threads).above_zero().says(
        "Number of threads that launch at the same time; 1: only the measuring thread."));
    visit(GVB_FIELD(streams).above_zero().says("Streams per thread, used in turn."));
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
    visit(GVB_FIELD(kernels).says("Kernels per burst."));
    visit(GVB_FIELD(total_ns).says("Time from the first call of each burst until every wait has returned."));
    visit(GVB_FIELD(submit_ns).says("Time from the first call of each burst until the last launch call has returned."));
    visit(GVB_FIELD(device_ns).says("Time per kernel that a graph adds, by the device's clock; null for other calls."));
    visit(GVB_FIELD(core).says(
        "Processor that the thread used; null with several threads or if the system does not let threads choose."));
  }
};

namespace {

const Topic launch_burst_topic{
    "Bursts of launches",
    {in_session("launchBursts", measure_bursts)
         .says("Launches a burst of kernels without waiting in between, then waits once for all of them.")}};

}  // namespace

}  // namespace gvb
