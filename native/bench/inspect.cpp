#include "bench/inspect.h"

#include <array>
#include <cstring>

#include "bench/device_session.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdevice;
using abi::NVML_SUCCESS;

namespace {

void add_nvml_facts(const NvmlApi& nvml, abi::nvmlDevice_t handle, DeviceInfo& info) {
  if (!handle) return;
  unsigned index = 0, current = 0, pending = 0;
  int mode = 0;
  abi::nvmlMemory_t memory{};
  abi::nvmlPciInfo_t pci{};
  std::array<char, 96> text{};
  if (nvml.nvmlDeviceGetIndex && nvml.nvmlDeviceGetIndex(handle, &index) == NVML_SUCCESS)
    info.index = static_cast<int>(index);
  if (nvml.nvmlDeviceGetUUID && nvml.nvmlDeviceGetUUID(handle, text.data(), text.size()) == NVML_SUCCESS)
    info.uuid = text.data();
  if (nvml.nvmlDeviceGetMemoryInfo && nvml.nvmlDeviceGetMemoryInfo(handle, &memory) == NVML_SUCCESS)
    info.memory_bytes = memory.total;
  if (nvml.nvmlDeviceGetPciInfo_v3 && nvml.nvmlDeviceGetPciInfo_v3(handle, &pci) == NVML_SUCCESS)
    info.pci_bus_id = pci.busId;
  if (nvml.nvmlDeviceGetMigMode && nvml.nvmlDeviceGetMigMode(handle, &current, &pending) == NVML_SUCCESS)
    info.mig_mode = current;
  unsigned clock = 0;
  if (nvml.nvmlDeviceGetMaxClockInfo &&
      nvml.nvmlDeviceGetMaxClockInfo(handle, abi::NVML_CLOCK_SM, &clock) == NVML_SUCCESS)
    info.max_sm_clock_mhz = clock;
  if (nvml.nvmlDeviceGetPersistenceMode && nvml.nvmlDeviceGetPersistenceMode(handle, &mode) == NVML_SUCCESS)
    info.persistence_mode = mode;
}

DeviceInfo describe(const Driver& driver, const Cuda& cuda, int ordinal) {
  CUdevice device = 0;
  GVB_CALL(cuda, "opening a device", cuDeviceGet, &device, ordinal);
  std::array<char, 256> name{};
  GVB_CALL(cuda, "reading a device's name", cuDeviceGetName, name.data(), static_cast<int>(name.size()), device);
  size_t total = 0;
  GVB_CALL(cuda, "reading a device's memory", cuDeviceTotalMem_v2, &total, device);
  DeviceInfo info{};
  info.index = ordinal;
  info.uuid = device_uuid(cuda, device);
  info.name = name.data();
  info.memory_bytes = info.visible_memory_bytes = total;
  info.major = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).value_or(0);
  info.minor = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).value_or(0);
  info.multiprocessors = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).value_or(0);
  info.compute_mode = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  info.mps_client = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  add_nvml_facts(driver.nvml.api, nvml_handle(driver.nvml.api, info.uuid), info);
  return info;
}

void inspect_nvml(const Driver& driver, Inspection& out) {
  const NvmlApi& nvml = driver.nvml.api;
  if (!nvml.nvmlInit_v2) return;
  const abi::nvmlReturn_t code = nvml.nvmlInit_v2();
  if (code != NVML_SUCCESS) {
    const char* text = nvml.nvmlErrorString ? nvml.nvmlErrorString(code) : nullptr;
    out.nvml_error = CodeInfo{code, text ? text : "unknown code", "nvmlInit_v2"};
    return;
  }
  std::array<char, 96> version{};
  if (nvml.nvmlSystemGetDriverVersion &&
      nvml.nvmlSystemGetDriverVersion(version.data(), version.size()) == NVML_SUCCESS)
    out.driver_version = version.data();
}

}  // namespace

Inspection inspect(const Driver& driver) {
  Inspection out;
  inspect_nvml(driver, out);
  // Looked at through the path most applications take, so that a layer's view of the device is what is shown.
  const Cuda cuda = driver.cuda(SymbolPath::kRuntime);
  try {
    driver.initialise(SymbolPath::kRuntime);
    int version = 0, count = 0;
    if (cuda.api.cuDriverGetVersion && cuda.api.cuDriverGetVersion(&version) == CUDA_SUCCESS)
      out.cuda_version = version;
    GVB_CALL(cuda, "counting devices", cuDeviceGetCount, &count);
    for (int ordinal = 0; ordinal < count; ++ordinal) out.devices.push_back(describe(driver, cuda, ordinal));
  } catch (const CallFailure& failure) {
    out.cuda_error = CodeInfo{failure.code, failure.name, failure.call};
  }
  return out;
}

Provenance provenance(const Driver& driver) {
  Provenance out;
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    FunctionOwners owners{kCudaFunctions[i].name, {}};
    for (const SymbolPath path : kSymbolPaths)
      owners.owners[static_cast<size_t>(path)] = owner_of(slot(driver.tables.of(path), i));
    out.cuda.push_back(std::move(owners));
  }
  for (size_t i = 0; i < kNvmlFunctionCount; ++i) {
    FunctionOwners owners{kNvmlFunctions[i], {}};
    owners.owners[static_cast<size_t>(SymbolPath::kDlsym)] = owner_of(slot(driver.nvml.dlsym, i));
    owners.owners[static_cast<size_t>(SymbolPath::kBare)] = owner_of(slot(driver.nvml.api, i));
    out.nvml.push_back(std::move(owners));
  }
  const auto expected = [&](const std::string& path) {
    if (path.empty() || path == driver.libcuda_path || path == driver.nvml.path) return true;
    for (const char* library : {"/libc.so.", "/libdl.so.", "/ld-linux"})
      if (path.find(library) != std::string::npos) return true;
    return false;
  };
  for (const ElfImage& image : ElfImage::all()) {
    if (expected(image.path())) continue;
    const unsigned exports = image.count_exports("cu");
    const bool has_dlsym = image.find("dlsym") != nullptr;
    if (exports > 0 || has_dlsym) out.objects.push_back({image.path(), exports, has_dlsym});
  }
  return out;
}

}  // namespace gvb
