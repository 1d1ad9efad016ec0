// Isolated launches.
#include "bench/launch_latency.h"

#include "addon/core_field.h"
#include "addon/mapping_fields.h"
#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<LaunchCall> kLaunchCalls{"LaunchCall",
                                       {{LaunchCall::kKernel, "cuLaunchKernel"},
                                        {LaunchCall::kKernelEx, "cuLaunchKernelEx"},
                                        {LaunchCall::kGraph, "cuGraphLaunch"}}};

}  // namespace

template <>
struct Fields<LaunchRequest> : FieldsOf<LaunchRequest> {
  static constexpr const char* kName = "LaunchRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(call).one_of(kLaunchCalls));
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

template <>
struct Fields<LaunchBlock> : FieldsOf<LaunchBlock> {
  static constexpr const char* kName = "LaunchBlock";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(submit_ns));
    visit(GVB_FIELD(start_ns));
    visit(GVB_FIELD(round_trip_ns));
    visit(GVB_FIELD(core).says("Processor that the thread used; null if the system does not let threads choose."));
    visit(GVB_FIELD(mapping));
  }
};

namespace {

const Topic launch_latency_topic{"Launches", {in_session("launchBlock", measure_launches)}};

}  // namespace

}  // namespace gvb
