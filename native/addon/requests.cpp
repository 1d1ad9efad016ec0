// A tenant that serves requests.
#include "bench/requests.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<RequestsRequest> : FieldsOf<RequestsRequest> {
  static constexpr const char* kName = "RequestsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(grace_ns).says("Time after the window during which requests that arrived in it are still served."));
    visit(GVB_FIELD(period_ns).says(
        "Time from one arrival to the next; 0: a request arrives when the previous one is done."));
    visit(GVB_FIELD(kernels).above_zero().says("Kernels per request, one after the other."));
    visit(GVB_FIELD(rounds).says("Rounds of work per kernel; 0: calibrated so that a kernel alone takes `kernelNs`."));
    visit(GVB_FIELD(kernel_ns));
    visit(GVB_FIELD(bytes).above_zero().says("Bytes that are copied to the host; a multiple of 4."));
  }
};

template <>
struct Fields<Requests> : FieldsOf<Requests> {
  static constexpr const char* kName = "Requests";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds).says("Rounds of work per kernel that were used."));
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(offered).says("Number of requests that arrived in the window."));
    visit(GVB_FIELD(arrived_ns).as_array().says("Arrival time of each served request."));
    visit(GVB_FIELD(latency_ns).as_array().says("Time from each request's arrival until its result was on the host."));
    visit(GVB_FIELD(device_ns).as_array().says(
        "Time from the start of each request's first kernel to the end of its last one."));
    visit(GVB_FIELD(sm_clock_mhz).says("SM clock at the end of the window; null if NVML does not report it."));
  }
};

namespace {

const Topic requests_topic{"Requests",
                           {in_session("requests", serve_requests)
                                .says("Serves requests that arrive at a fixed rate, even if the previous one is not "
                                      "done. Rejects if a result is wrong.")}};

}  // namespace

}  // namespace gvb
