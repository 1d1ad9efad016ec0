// A tenant that serves requests.
#include "bench/requests.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<RequestsRequest> : FieldsOf<RequestsRequest> {
  static constexpr const char* kName = "RequestsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(grace_ns).says("For how long after the window requests that arrived in it are still served."));
    visit(GVB_FIELD(period_ns).says("From one arrival to the next; 0: each when the previous one is done."));
    visit(GVB_FIELD(kernels).above_zero().says("Number per request, one after the other."));
    visit(GVB_FIELD(rounds).says("Of work in a kernel; 0: as many as make it last `kernelNs` alone."));
    visit(GVB_FIELD(kernel_ns));
    visit(GVB_FIELD(bytes).above_zero().says("That are copied to the host; a multiple of 4."));
  }
};

template <>
struct Fields<Requests> : FieldsOf<Requests> {
  static constexpr const char* kName = "Requests";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds).says("Of work in a kernel, as done."));
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(offered).says("Requests that arrived in the window."));
    visit(GVB_FIELD(arrived_ns).as_array().says("Arrival of each served request."));
    visit(GVB_FIELD(latency_ns).as_array().says("From its arrival until its result was there."));
    visit(GVB_FIELD(device_ns).as_array().says("From the start of its first kernel to the end of its last."));
    visit(GVB_FIELD(sm_clock_mhz).says("At the end of the window; null if NVML does not report it."));
  }
};

namespace {

const Topic requests_topic{
    "Requests",
    {in_session("requests", serve_requests)
         .says("Serves requests at a fixed rate, whether or not the previous one is done; rejects if a "
               "result is not what its kernels compute.")}};

}  // namespace

}  // namespace gvb
