// The state of a GPU, from NVML and the session's context.
#include "bench/gpu_state.h"

#include "addon/gpu_process_fields.h"
#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

struct GpuStateRequest : Target {
  std::string uuid;
  GpuDetail detail = GpuDetail::kAll;
};

struct UtilizationRequest : Target {
  std::string uuid;
  uint64_t since_us = 0;
};

namespace {

const Choices<GpuDetail> kDetails{"GpuDetail", {{GpuDetail::kReadings, "readings"}, {GpuDetail::kAll, "all"}}};
const Choices<Scheduling> kScheduling{"Scheduling",
                                      {{Scheduling::kAuto, "auto"},
                                       {Scheduling::kSpin, "spin"},
                                       {Scheduling::kYield, "yield"},
                                       {Scheduling::kBlocking, "blocking"}}};

}  // namespace

template <>
const Choices<Scheduling>* const kChoicesOf<Scheduling> = &kScheduling;

template <>
struct Fields<GpuStateRequest> : FieldsOf<GpuStateRequest, Target> {
  static constexpr const char* kName = "GpuStateRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid));
    visit(
        GVB_FIELD(detail).one_of(kDetails).says("`readings`: only values that change continuously and are cheap to "
                                                "query (the rest is null); `all`: every value."));
  }
};

template <>
struct Fields<GpuState> : FieldsOf<GpuState> {
  static constexpr const char* kName = "GpuState";
  static constexpr const char* kDoc = "State of a GPU that NVML reports; null for values that it does not report.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(sm_clock_mhz));
    visit(GVB_FIELD(max_sm_clock_mhz));
    visit(GVB_FIELD(memory_clock_mhz));
    visit(GVB_FIELD(temperature_c));
    visit(GVB_FIELD(power_w));
    visit(GVB_FIELD(performance_state));
    visit(GVB_FIELD(persistence_mode));
    visit(GVB_FIELD(event_reasons).says("Bits of nvmlDeviceGetCurrentClocksEventReasons."));
    visit(
        GVB_FIELD(gpu_percent)
            .says(
                "Percentage of NVML's last sampling period in which a kernel ran, and in which memory was accessed."));
    visit(GVB_FIELD(memory_percent));
    visit(GVB_FIELD(used_bytes));
    visit(GVB_FIELD(free_bytes));
    visit(GVB_FIELD(total_bytes));
    visit(GVB_FIELD(processes));
  }
};

template <>
struct Fields<UtilizationRequest> : FieldsOf<UtilizationRequest, Target> {
  static constexpr const char* kName = "UtilizationRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid));
    visit(GVB_FIELD(since_us).says(
        "Time on the host's clock in microseconds since 1970; older samples of processes are left out."));
  }
};

template <>
struct Fields<ProcessUtilization> : FieldsOf<ProcessUtilization> {
  static constexpr const char* kName = "ProcessUtilization";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(pid));
    visit(GVB_FIELD(sm_percent));
    visit(GVB_FIELD(at_us));
  }
};

template <>
struct Fields<GpuUtilization> : FieldsOf<GpuUtilization> {
  static constexpr const char* kName = "GpuUtilization";
  static constexpr const char* kDoc = "Percentage of NVML's last sampling period in which a kernel ran.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(gpu_percent));
    visit(GVB_FIELD(processes).says("Processes that used the GPU; null if NVML does not report them."));
  }
};

template <>
struct Fields<VisibleMemory> : FieldsOf<VisibleMemory> {
  static constexpr const char* kName = "VisibleMemory";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(free_bytes));
    visit(GVB_FIELD(total_bytes));
  }
};

namespace {

// Needs no session, because a coordinator makes no CUDA call.
std::optional<GpuState> state_of(const GpuStateRequest& request) {
  return read_gpu_state(Nvml::load(request.simulated_driver).api, request.uuid, request.detail);
}

std::optional<GpuUtilization> utilization_of(const UtilizationRequest& request) {
  return read_utilization(Nvml::load(request.simulated_driver).api, request.uuid, request.since_us);
}

GpuState health(DeviceSession& session) { return read_gpu_state(session.driver.nvml.api, session.nvml_device); }

std::optional<Scheduling> scheduling(DeviceSession& session) { return session.context.scheduling(); }

VisibleMemory memory_seen(DeviceSession& session) { return visible_memory(session); }

const Topic gpu_state_topic{
    "State of a GPU",
    {without_session("gpuState", state_of)
         .says("State of a GPU, selected by UUID, that NVML reports. Needs no session and makes no CUDA call; null if "
               "NVML does not know the GPU."),
     without_session("gpuUtilization", utilization_of)
         .says("NVML's utilisation of a GPU and of its processes; like gpuState it needs no session."),
     in_session("health", health)
         .says("State of the session's GPU that NVML reports; all fields are null if NVML does not know the GPU."),
     in_session("scheduling", scheduling)
         .says(
             "How the host waits in the session's context, from cuCtxGetFlags; null if the driver does not report it."),
     in_session("visibleMemory", memory_seen)
         .says(
             "Memory that cuMemGetInfo reports to this process, which a layer may change; null if the call failed.")}};

}  // namespace

}  // namespace gvb
