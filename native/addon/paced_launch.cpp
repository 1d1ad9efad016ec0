// Launches at a slow, steady pace.
#include "bench/paced_launch.h"

#include "addon/core_field.h"
#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<LaunchCall> kPacedCalls{"PacedCall",
                                      {{LaunchCall::kKernel, "cuLaunchKernel"},
                                       {LaunchCall::kKernelEx, "cuLaunchKernelEx"},
                                       {LaunchCall::kGraph, "cuGraphLaunch"},
                                       {LaunchCall::kCooperative, "cuLaunchCooperativeKernel"}}};

}  // namespace

template <>
struct Fields<PacedLaunchRequest> : FieldsOf<PacedLaunchRequest> {
  static constexpr const char* kName = "PacedLaunchRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(call).one_of(kPacedCalls));
    visit(GVB_FIELD(count).above_zero());
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(period_ns).above_zero().says("Time from one call to the next."));
    visit(GVB_FIELD(spin_ns).says("Time that every block spins; 0: the kernel ends at once."));
    visit(GVB_FIELD(grid).above_zero().says("Number of blocks, each with 32 threads."));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

template <>
struct Fields<PacedLaunches> : FieldsOf<PacedLaunches> {
  static constexpr const char* kName = "PacedLaunches";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(took_ns).as_array().says("Duration of each launch call, without the wait after it."));
    visit(GVB_FIELD(preempted).says("Indices in `tookNs` of calls during which the scheduler preempted the thread."));
  }
};

namespace {

const Topic paced_launch_topic{
    "Launches at a pace",
    {in_session("pacedLaunches", measure_paced_launches)
         .says("Measures each launch call; the launches are far enough apart that no limiter has to delay them.")}};

}  // namespace

}  // namespace gvb
