// Errors of a GPU as NVML reports them. Needs no session, because a coordinator makes no CUDA call.
#include "bench/xid_events.h"

#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

struct XidRequest : Target {
  std::string uuid;
};

struct XidWatch {
  std::string unsupported;
};

template <>
struct Fields<XidRequest> : FieldsOf<XidRequest, Target> {
  static constexpr const char* kName = "XidRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid));
  }
};

template <>
struct Fields<XidEvent> : FieldsOf<XidEvent> {
  static constexpr const char* kName = "XidEvent";
  static constexpr const char* kDoc = "An error of the GPU that the kernel module reported.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(at_ns).says("Time on the clock of `now` at which the error was read."));
    visit(GVB_FIELD(xid).says("NVIDIA's number of the error; for example, 31 is a memory page fault."));
  }
};

template <>
struct Fields<XidWatch> : FieldsOf<XidWatch> {
  static constexpr const char* kName = "XidWatch";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unsupported).or_null().says("Reason why NVML cannot report errors; null if it can."));
  }
};

namespace {

XidWatch begin(const XidRequest& request) {
  return {watch_xids(Nvml::load(request.simulated_driver).api, request.uuid)};
}

std::vector<XidEvent> seen(const XidRequest& request) {
  return seen_xids(Nvml::load(request.simulated_driver).api, request.uuid);
}

const Topic xid_events_topic{
    "Errors of a GPU",
    {without_session("watchXids", begin)
         .says("Records the errors that NVML reports for a GPU from now on, until the process ends."),
     without_session("seenXids", seen).says("All errors since watchXids, in the order in which they happened.")}};

}  // namespace

}  // namespace gvb
