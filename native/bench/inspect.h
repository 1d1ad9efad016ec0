// What is there: versions and devices as NVML and the driver say, without creating a context.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
};

Inspection inspect(const Driver& driver);

struct FunctionOwners {
  std::string name;
  std::array<std::string, 4> owners;  // by SymbolPath; empty where it does not resolve
};

struct MappedObject {
  std::string path;
  unsigned cuda_exports;
  bool exports_dlsym;
};

struct Provenance {
  std::vector<FunctionOwners> cuda;
  std::vector<FunctionOwners> nvml;  // only dlsym and bare are filled
  std::vector<MappedObject> objects;
};

Provenance provenance(const Driver& driver);

}  // namespace gvb
