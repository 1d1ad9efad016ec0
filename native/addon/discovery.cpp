// How long it takes to find all GPUs through NVML.
#include "bench/discovery.h"

#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<DiscoveryRequest> : FieldsOf<DiscoveryRequest, Target> {
  static constexpr const char* kName = "DiscoveryRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(repeats).says("Number of warm passes after the first pass."));
  }
};

template <>
struct Fields<DiscoveryFunction> : FieldsOf<DiscoveryFunction> {
  static constexpr const char* kName = "DiscoveryFunction";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(owner).or_null());
    visit(GVB_FIELD(intercepted));
  }
};

template <>
struct Fields<DiscoveryPass> : FieldsOf<DiscoveryPass> {
  static constexpr const char* kName = "DiscoveryPass";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(total_ns));
    visit(GVB_FIELD(steps_ns).says("Time of each step; a step that queries every GPU sums over the GPUs."));
  }
};

template <>
struct Fields<Discovery> : FieldsOf<Discovery> {
  static constexpr const char* kName = "Discovery";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(load_ns).says("Time for dlopen of NVML and resolving its functions."));
    visit(GVB_FIELD(functions).says("One function per step, in the order of `stepsNs`, as dlsym returned it."));
    visit(GVB_FIELD(first));
    visit(GVB_FIELD(repeats));
    visit(GVB_FIELD(uuids).says("UUIDs of the GPUs found."));
  }
};

namespace {

Discovery discovery(const DiscoveryRequest& request) { return measure_discovery(request, CancelToken()); }

const Topic discovery_topic{
    "Discovery",
    {without_session("discovery", discovery)
         .says(
             "Measures how long it takes to find all GPUs through NVML. The first pass is cold in a fresh process.")}};

}  // namespace

}  // namespace gvb
