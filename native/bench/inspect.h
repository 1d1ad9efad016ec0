// Versions and devices as NVML and the driver report them, without creating a context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/clock_check.h"
#include "driver/code_on_disk.h"
#include "driver/driver.h"

namespace gvb {

enum class MigMode { kNotSupported, kDisabled, kEnabled };
// The values of CU_DEVICE_ATTRIBUTE_COMPUTE_MODE.
enum class ComputeMode { kDefault = 0, kExclusiveThread = 1, kProhibited = 2, kExclusiveProcess = 3 };

struct DeviceInfo {
  int index = 0;
  std::string uuid, name;
  uint64_t memory_bytes = 0;  // by NVML, if it reports it
  // Memory by cuDeviceTotalMem, which a layer may change; nullopt if a layer hides it.
  std::optional<uint64_t> visible_memory_bytes;
  std::string compute_capability;
  int multiprocessors = 0;
  std::optional<unsigned> max_sm_clock_mhz;
  std::optional<double> power_limit_w;
  std::optional<std::string> vbios, pci_bus_id;
  MigMode mig_mode = MigMode::kNotSupported;
  std::optional<bool> persistence_mode;
  std::optional<ComputeMode> compute_mode;
  std::optional<bool> mps_client;
};

struct FailedCall {
  int code = 0;
  std::string name, call;
  std::optional<std::string> missing;
};

struct Inspection {
  bool simulated = false;
  std::string libcuda;
  std::optional<std::string> libnvidia_ml;
  std::optional<std::string> driver_version;
  std::optional<int> cuda_version;
  // Set if the library exists but failed.
  std::optional<FailedCall> cuda, nvml;
  std::vector<DeviceInfo> devices;
  ClockReading clock;
};

Inspection inspect(const Driver& driver);

// The owner of the address of a function on each path; empty if it does not resolve.
struct CudaOwners {
  std::string runtime, dlsym, linked, bare;
};
struct NvmlOwners {
  std::string dlsym, bare;
};

template <class Owners>
struct OwnedFunction {
  std::string name;
  Owners owners;
  // The paths on which the address is not one of the driver's own, whoever owns it.
  std::vector<std::string> interposed;
  std::optional<PatchedCode> patched;  // the driver's own function
};

struct MappedObject {
  std::string path;
  unsigned cuda_exports = 0;
  bool exports_dlsym = false;
  bool exports_init = false;
};

// The library that programs get as libcuda.so.1, and the real driver.
struct LibcudaInfo {
  std::string loaded, driver;
  bool simulated = false;
  std::optional<std::string> kernel_module;  // its version
  // Whether `driver` has that version; nullopt if there is none to compare with.
  std::optional<bool> carries_kernel_version;
};

struct Provenance {
  std::vector<OwnedFunction<CudaOwners>> functions;
  std::vector<OwnedFunction<NvmlOwners>> nvml;
  std::vector<MappedObject> objects;
  LibcudaInfo libcuda;
  std::vector<LibcFunction> replaced;  // functions of libc that read or write for proofs and are not libc's own
  std::string code_unreadable;         // why code was not compared with the driver's file; empty if it was
};

Provenance provenance(const Driver& driver);

}  // namespace gvb
