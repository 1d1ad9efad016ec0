// Facts about the driver, the devices and the owners of functions, as a process sees them.
#include <system_error>

#include "addon/clock_fields.h"
#include "addon/gpu_process_fields.h"
#include "addon/target_fields.h"
#include "addon/topic.h"
#include "bench/inspect.h"
#include "bench/mig_instances.h"
#include "driver/driver_probe.h"

namespace gvb {

struct DriverProbeRequest {
  uint64_t timeout_ms = 0;
};

namespace {

const Choices<MigMode> kMigModes{
    "", {{MigMode::kEnabled, "enabled"}, {MigMode::kDisabled, "disabled"}, {MigMode::kNotSupported, "not supported"}}};

const Choices<ComputeMode> kComputeModes{"",
                                         {{ComputeMode::kDefault, "default"},
                                          {ComputeMode::kExclusiveThread, "exclusive-thread"},
                                          {ComputeMode::kProhibited, "prohibited"},
                                          {ComputeMode::kExclusiveProcess, "exclusive-process"}}};

}  // namespace

template <>
struct Fields<DriverProbeRequest> : FieldsOf<DriverProbeRequest> {
  static constexpr const char* kName = "DriverProbeRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(timeout_ms));
  }
};

template <>
struct Fields<DriverProbe> : FieldsOf<DriverProbe> {
  static constexpr const char* kName = "DriverProbe";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path));
    visit(GVB_FIELD(error).or_null());
    visit(GVB_FIELD(fatal).says(
        "Whether the library exists but a process that loads it crashes or hangs; `error` describes how."));
  }
};

template <>
struct Fields<DeviceInfo> : FieldsOf<DeviceInfo> {
  static constexpr const char* kName = "NativeDevice";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(index));
    visit(GVB_FIELD(uuid));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(memory_bytes));
    visit(
        GVB_FIELD(visible_memory_bytes)
            .says("Memory that cuDeviceTotalMem reports to this process; a layer may change it. Null if a layer hides "
                  "that function."));
    visit(GVB_FIELD(compute_capability));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(max_sm_clock_mhz));
    visit(GVB_FIELD(power_limit_w));
    visit(GVB_FIELD(vbios));
    visit(GVB_FIELD(pci_bus_id));
    visit(GVB_FIELD(mig_mode).one_of(kMigModes));
    visit(GVB_FIELD(persistence_mode));
    visit(GVB_FIELD(compute_mode).one_of(kComputeModes));
    visit(GVB_FIELD(mps_client));
  }
};

template <>
struct Fields<MigInstance> : FieldsOf<MigInstance> {
  static constexpr const char* kName = "MigInstance";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(parent).says("UUID of its card."));
    visit(GVB_FIELD(parent_index));
    visit(GVB_FIELD(gpu_instance));
    visit(GVB_FIELD(compute_instance));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(memory_bytes));
  }
};

template <>
struct Fields<PlaceProcesses> : FieldsOf<PlaceProcesses> {
  static constexpr const char* kName = "PlaceProcesses";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid).says("UUID of a MIG instance, or of a card that has none."));
    visit(GVB_FIELD(processes).says("Null if NVML does not list them."));
  }
};

template <>
struct Fields<FailedCall> : FieldsOf<FailedCall> {
  static constexpr const char* kName = "FailedCall";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(call));
    visit(GVB_FIELD(missing).says(
        "What to do about a function that every measurement needs and that is not there; null: the call failed."));
  }
};

template <>
struct Fields<Inspection> : FieldsOf<Inspection> {
  static constexpr const char* kName = "Inspection";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(simulated));
    visit(GVB_FIELD(libcuda));
    visit(GVB_FIELD(libnvidia_ml));
    visit(GVB_FIELD(driver_version));
    visit(GVB_FIELD(cuda_version));
    visit(GVB_FIELD(cuda).says("Set if the library exists but was refused."));
    visit(GVB_FIELD(nvml));
    visit(GVB_FIELD(devices));
    visit(GVB_FIELD(clock).says("`judgeClock` (clock.ts) says whether times taken in that process may be published."));
  }
};

template <>
struct Fields<PatchedCode> : FieldsOf<PatchedCode> {
  static constexpr const char* kName = "PatchedCode";
  static constexpr const char* kDoc =
      "Code of a driver function whose beginning differs from the file it was mapped from.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Bytes in memory, hexadecimal."));
    visit(
        GVB_FIELD(owner).or_null().says("The object that contains the target of the jump at its beginning; null "
                                        "without a jump, or if no object contains its target."));
  }
};

template <>
struct Fields<CudaOwners> : FieldsOf<CudaOwners> {
  static constexpr const char* kName = "CudaOwners";
  static constexpr const char* kDoc =
      "The owner of the address of a function on each symbol path: a file, `memory without a file`, or null if it does "
      "not "
      "resolve.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(runtime).or_null());
    visit(GVB_FIELD(dlsym).or_null());
    visit(GVB_FIELD(linked).or_null());
    visit(GVB_FIELD(bare).or_null());
  }
};

template <>
struct Fields<NvmlOwners> : FieldsOf<NvmlOwners> {
  static constexpr const char* kName = "NvmlOwners";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(dlsym).or_null());
    visit(GVB_FIELD(bare).or_null());
  }
};

template <class Owners>
struct OwnedFunctionFields : FieldsOf<OwnedFunction<Owners>> {
  using Self = OwnedFunction<Owners>;
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(owners));
    visit(GVB_FIELD(interposed).says("The paths on which the address is not the driver's own, whoever owns it."));
    visit(GVB_FIELD(patched).or_left_out());
  }
};
template <>
struct Fields<OwnedFunction<CudaOwners>> : OwnedFunctionFields<CudaOwners> {
  static constexpr const char* kName = "CudaFunction";
};
template <>
struct Fields<OwnedFunction<NvmlOwners>> : OwnedFunctionFields<NvmlOwners> {
  static constexpr const char* kName = "NvmlFunction";
};

template <>
struct Fields<MappedObject> : FieldsOf<MappedObject> {
  static constexpr const char* kName = "MappedObject";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path));
    visit(GVB_FIELD(cuda_exports));
    visit(GVB_FIELD(exports_dlsym));
    visit(GVB_FIELD(exports_init));
  }
};

template <>
struct Fields<LibcudaInfo> : FieldsOf<LibcudaInfo> {
  static constexpr const char* kName = "LibcudaInfo";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(loaded).says("The file that the process gets as libcuda.so.1."));
    visit(GVB_FIELD(driver).says(
        "The driver itself; differs from `loaded` if libcuda.so.1 was replaced by a library that forwards to it."));
    visit(GVB_FIELD(simulated));
    visit(GVB_FIELD(kernel_module).says("Version of the NVIDIA kernel module; null if unknown."));
    visit(GVB_FIELD(carries_kernel_version).says("Whether `driver` has that version; null if unknown."));
  }
};

template <>
struct Fields<Provenance> : FieldsOf<Provenance> {
  static constexpr const char* kName = "Provenance";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(functions));
    visit(GVB_FIELD(nvml));
    visit(GVB_FIELD(objects).says(
        "Objects mapped into the process that export `dlsym` or names beginning with `cu`, except drivers and libc."));
    visit(
        GVB_FIELD(replaced).says("Functions of libc with which files and symbols are read, and that are not libc's."));
    visit(GVB_FIELD(code_unreadable)
              .or_null()
              .says("Reason why the driver's code was not compared with its file; null if it was."));
    visit(GVB_FIELD(libcuda));
  }
};

namespace {

DriverProbe driver_probe(const DriverProbeRequest& request) {
  return probe_driver(std::chrono::milliseconds{static_cast<int64_t>(request.timeout_ms)});
}

Inspection inspect_driver(const Target& target) { return inspect(Driver::load(target.simulated_driver)); }

std::vector<MigInstance> instances(const Target& target) { return mig_instances(Nvml::load(target.simulated_driver)); }

std::vector<PlaceProcesses> places(const Target& target) {
  return processes_by_place(Nvml::load(target.simulated_driver));
}

Provenance read_provenance(const Target& target) { return provenance(Driver::load(target.simulated_driver)); }

const Topic inspection_topic{
    "Driver and layers",
    {at_once("probeDriver", driver_probe)
         .says("Opens libcuda.so.1 in a separate process and reports where it was found, or why not. Blocks."),
     without_session("inspect", inspect_driver)
         .says("Versions and devices as NVML and the driver report them. Initialises both; never creates a context."),
     without_session("migInstances", instances)
         .says("Lists the MIG instances that NVML reports, without any CUDA call."),
     without_session("processesByPlace", places)
         .says("Lists the processes on every MIG instance and on every card without instances, without any CUDA call."),
     without_session("provenance", read_provenance)
         .says("Who owns each driver function on each of the four symbol paths. Makes no driver call.")}};

}  // namespace

}  // namespace gvb
