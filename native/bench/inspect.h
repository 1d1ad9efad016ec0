// What is there: versions and devices as NVML and the driver say, without creating a context.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/clock_check.h"
#include "driver/code_on_disk.h"
#include "driver/driver.h"

namespace gvb {

struct DeviceInfo {
  int index;
  std::string uuid, name;
  uint64_t memory_bytes;          // as NVML says it, where it does
  uint64_t visible_memory_bytes;  // as the process is told by cuDeviceTotalMem, which a layer may bend
  int major, minor, multiprocessors;
  std::optional<std::string> pci_bus_id;
  std::optional<unsigned> mig_mode;  // nullopt: not supported
  std::optional<unsigned> max_sm_clock_mhz;
  std::optional<int> persistence_mode, compute_mode, mps_client;
};

struct CodeInfo {
  int code;
  std::string name, call;
};

struct Inspection {
  std::optional<std::string> driver_version;
  std::optional<int> cuda_version;
  // Set when the library is there but refused.
  std::optional<CodeInfo> cuda_error, nvml_error;
  std::vector<DeviceInfo> devices;
  ClockReading clock;
};

Inspection inspect(const Driver& driver);

struct FunctionOwners {
  std::string name;
  std::array<std::string, 4> owners;  // by SymbolPath; empty where it does not resolve
  std::optional<PatchedCode> patch;   // of the driver's own function
};

struct MappedObject {
  std::string path;
  unsigned cuda_exports;
  bool exports_dlsym;
  bool exports_init;
};

// The library that programs get as libcuda.so.1, and the one that is the driver.
struct LibcudaInfo {
  std::string loaded, driver;
  bool simulated;
  std::optional<std::string> kernel_module;    // its version
  std::optional<bool> carries_kernel_version;  // whether `driver` does; nullopt where there is nothing to look for
};

struct Provenance {
  std::vector<FunctionOwners> cuda;
  std::vector<FunctionOwners> nvml;  // only dlsym and bare are filled
  std::vector<MappedObject> objects;
  LibcudaInfo libcuda;
  std::string code_unreadable;  // why code was not compared with the driver's file; empty where it was
};

Provenance provenance(const Driver& driver);

}  // namespace gvb
