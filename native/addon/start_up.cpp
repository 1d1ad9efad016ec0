// The start of a process, split into steps.
#include "bench/start_up.h"

#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<ContextApi> kContextApis{
    "ContextApi", {{ContextApi::kPrimary, "cuDevicePrimaryCtxRetain"}, {ContextApi::kCreate, "cuCtxCreate"}}};

const Choices<LoadingMode> kLoadingModes{"", {{LoadingMode::kEager, "eager"}, {LoadingMode::kLazy, "lazy"}}};

const Choices<InitialisedAt> kInitialisedAt{"",
                                            {{InitialisedAt::kProcessStart, "process start"},
                                             {InitialisedAt::kLoad, "load"},
                                             {InitialisedAt::kLookUp, "look-up"},
                                             {InitialisedAt::kInit, "cuInit"},
                                             {InitialisedAt::kUnknown, "unknown"}}};

}  // namespace

template <>
struct Fields<StartUpRequest> : FieldsOf<StartUpRequest, DeviceTarget> {
  static constexpr const char* kName = "StartUpRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(context_api).one_of(kContextApis));
    visit(GVB_FIELD(recreations)
              .says("Number of times that the primary context is released and retained again after the start."));
    visit(GVB_FIELD(start_at_ns)
              .says("Time on the clock of `now` to wait for before libcuda is searched. If it is null or has passed, "
                    "starts at once."));
    visit(GVB_FIELD(keep).says(
        "Keeps the context until the process ends, like a running program, and recreates nothing."));
  }
};

template <>
struct Fields<StartUp> : FieldsOf<StartUp> {
  static constexpr const char* kName = "StartUp";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(load_ns));
    visit(GVB_FIELD(resolve_ns));
    visit(GVB_FIELD(init_ns));
    visit(GVB_FIELD(device_ns));
    visit(GVB_FIELD(context_ns));
    visit(GVB_FIELD(module_ns));
    visit(GVB_FIELD(first_alloc_ns));
    visit(GVB_FIELD(first_launch_ns));
    visit(GVB_FIELD(second_launch_ns));
    visit(GVB_FIELD(total_ns).says("Time from cuInit to the first kernel's result on the host."));
    visit(GVB_FIELD(ready_at_ns)
              .says("Times on the clock of `now`: the request arrived; the start began; the first result was on the "
                    "host."));
    visit(GVB_FIELD(began_at_ns));
    visit(GVB_FIELD(first_result_at_ns));
    visit(GVB_FIELD(first_release_ns).says("Time to release the context that did the work; null if it is kept."));
    visit(GVB_FIELD(result_correct));
    visit(GVB_FIELD(context_function));
    visit(GVB_FIELD(context_owner).or_null());
    visit(GVB_FIELD(loading_mode).one_of(kLoadingModes));
    visit(GVB_FIELD(initialised_at)
              .one_of(kInitialisedAt)
              .says("Step in which the driver's device files were opened; `process start`: before the search for "
                    "libcuda."));
    visit(GVB_FIELD(interposer)
              .or_null()
              .says("Object whose functions a program gets instead of the driver's functions or libc's dlsym."));
    visit(
        GVB_FIELD(context_was_active)
            .says(
                "Whether the primary context existed before it was retained; null if the driver does not report it."));
    visit(GVB_FIELD(processes_during)
              .says("PIDs in NVML's list while the context existed, and after its release; null if NVML cannot report "
                    "them."));
    visit(GVB_FIELD(processes_after));
    visit(GVB_FIELD(gpu_free_during_bytes).says("Free memory of the GPU that NVML reports at the same two times."));
    visit(GVB_FIELD(gpu_free_after_bytes));
    visit(GVB_FIELD(pid));
    visit(GVB_FIELD(retain_ns).as_array());
    visit(GVB_FIELD(release_ns).as_array());
    visit(GVB_FIELD(inactive_between)
              .says("Whether cuDevicePrimaryCtxGetState reported the context as inactive after every release."));
    visit(GVB_FIELD(left_list_between)
              .says("Whether this process left NVML's list after every release; null if NVML cannot report it."));
    visit(GVB_FIELD(mps_client)
              .says("Whether the process is an MPS client. NVML lists such a process until it ends, even if its "
                    "context is destroyed."));
  }
};

namespace {

StartUp start_up(const StartUpRequest& request) { return measure_start_up(request, CancelToken()); }

const Topic start_up_topic{
    "Start of a process",
    {without_session("startUp", start_up)
         .says("Measures the start of a process, split into steps. Works once per process, before any other call.")}};

}  // namespace

}  // namespace gvb
