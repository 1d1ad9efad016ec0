#include "bench/inspect.h"

#include <array>
#include <cstring>
#include <utility>

#include "bench/device_session.h"
#include "driver/code_owner.h"
#include "driver/libcuda_images.h"
#include "driver/mapped_images.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdevice;
using abi::NVML_SUCCESS;

namespace {

DeviceInfo with_nvml_facts(const NvmlApi& nvml, abi::nvmlDevice_t handle, DeviceInfo info) {
  if (!handle) return info;
  unsigned index = 0, current = 0, pending = 0;
  int mode = 0;
  abi::nvmlMemory_t memory{};
  abi::nvmlPciInfo_t pci{};
  if (nvml.nvmlDeviceGetIndex && nvml.nvmlDeviceGetIndex(handle, &index) == NVML_SUCCESS)
    info.index = static_cast<int>(index);
  if (auto uuid = nvml_uuid(nvml, handle)) info.uuid = std::move(*uuid);
  if (nvml.nvmlDeviceGetMemoryInfo && nvml.nvmlDeviceGetMemoryInfo(handle, &memory) == NVML_SUCCESS)
    info.memory_bytes = memory.total;
  if (nvml.nvmlDeviceGetPciInfo_v3 && nvml.nvmlDeviceGetPciInfo_v3(handle, &pci) == NVML_SUCCESS)
    info.pci_bus_id = pci.busId;
  if (nvml.nvmlDeviceGetMigMode && nvml.nvmlDeviceGetMigMode(handle, &current, &pending) == NVML_SUCCESS)
    info.mig_mode = current != 0 ? MigMode::kEnabled : MigMode::kDisabled;
  unsigned clock = 0;
  if (nvml.nvmlDeviceGetMaxClockInfo &&
      nvml.nvmlDeviceGetMaxClockInfo(handle, abi::NVML_CLOCK_SM, &clock) == NVML_SUCCESS)
    info.max_sm_clock_mhz = clock;
  unsigned milliwatts = 0;
  if (nvml.nvmlDeviceGetPowerManagementLimit &&
      nvml.nvmlDeviceGetPowerManagementLimit(handle, &milliwatts) == NVML_SUCCESS)
    info.power_limit_w = milliwatts / 1e3;
  std::array<char, 64> vbios{};
  if (nvml.nvmlDeviceGetVbiosVersion &&
      nvml.nvmlDeviceGetVbiosVersion(handle, vbios.data(), vbios.size()) == NVML_SUCCESS)
    info.vbios = vbios.data();
  if (nvml.nvmlDeviceGetPersistenceMode && nvml.nvmlDeviceGetPersistenceMode(handle, &mode) == NVML_SUCCESS)
    info.persistence_mode = mode != 0;
  return info;
}

// The functions that a program gets, and the driver's own in place of those that a layer hides.
CudaApi with_hidden(const Driver& driver, SymbolPath path) {
  CudaApi api = driver.tables.of(path);
  for (size_t i = 0; i < kCudaFunctionCount; ++i)
    if (!slot(api, i)) slot(api, i) = slot(driver.tables.reference_of(path), i);
  return api;
}

std::optional<uint64_t> visible_memory(const Cuda& of_program, CUdevice device) {
  size_t total = 0;
  if (!of_program.api.cuDeviceTotalMem_v2) return std::nullopt;
  GVB_CALL(of_program, "reading a device's memory", cuDeviceTotalMem_v2, &total, device);
  return total;
}

DeviceInfo describe(const Driver& driver, const Cuda& cuda, int ordinal) {
  CUdevice device = 0;
  GVB_CALL(cuda, "opening a device", cuDeviceGet, &device, ordinal);
  std::array<char, 256> name{};
  GVB_CALL(cuda, "reading a device's name", cuDeviceGetName, name.data(), static_cast<int>(name.size()), device);
  size_t total = 0;
  GVB_CALL(cuda, "reading a device's memory", cuDeviceTotalMem_v2, &total, device);
  DeviceInfo info;
  info.index = ordinal;
  info.uuid = device_uuid(cuda, device);
  info.name = name.data();
  info.memory_bytes = total;
  info.visible_memory_bytes = visible_memory(driver.cuda(cuda.path), device);
  const auto attribute = [&](abi::CUdevice_attribute which) { return device_attribute(cuda, device, which); };
  info.compute_capability = compute_capability(cuda, device).text();
  info.multiprocessors = attribute(abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).value_or(0);
  const auto mode = attribute(abi::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  if (mode && *mode >= 0 && *mode <= static_cast<int>(ComputeMode::kExclusiveProcess))
    info.compute_mode = static_cast<ComputeMode>(*mode);
  if (const auto client = attribute(abi::CU_DEVICE_ATTRIBUTE_MPS_ENABLED)) info.mps_client = *client != 0;
  const abi::nvmlDevice_t handle = nvml_handle(driver.nvml.api, info.uuid);
  return with_nvml_facts(driver.nvml.api, handle, std::move(info));
}

struct NvmlState {
  std::optional<std::string> driver_version;
  std::optional<FailedCall> failure;
};

NvmlState inspect_nvml(const NvmlApi& nvml) {
  if (!nvml.nvmlInit_v2) return {};
  const abi::nvmlReturn_t code = nvml.nvmlInit_v2();
  if (code != NVML_SUCCESS) {
    const char* text = nvml.nvmlErrorString ? nvml.nvmlErrorString(code) : nullptr;
    return {std::nullopt, FailedCall{code, text ? text : "unknown code", "nvmlInit_v2", std::nullopt}};
  }
  std::array<char, 96> version{};
  if (nvml.nvmlSystemGetDriverVersion &&
      nvml.nvmlSystemGetDriverVersion(version.data(), version.size()) == NVML_SUCCESS)
    return {version.data(), std::nullopt};
  return {};
}

}  // namespace

Inspection inspect(const Driver& driver) {
  Inspection out;
  out.libcuda = driver.libcuda_path;
  out.libnvidia_ml = driver.nvml.path;
  NvmlState nvml = inspect_nvml(driver.nvml.api);
  out.driver_version = std::move(nvml.driver_version);
  out.nvml = std::move(nvml.failure);
  // Uses the path that most applications take, to show the device as they see it.
  const CudaApi functions = with_hidden(driver, SymbolPath::kRuntime);
  const Cuda cuda(driver.cuda(SymbolPath::kRuntime), functions);
  try {
    driver.initialise(SymbolPath::kRuntime);
    driver.find_true_driver();
    int version = 0, count = 0;
    if (cuda.api.cuDriverGetVersion && cuda.api.cuDriverGetVersion(&version) == CUDA_SUCCESS)
      out.cuda_version = version;
    GVB_CALL(cuda, "counting devices", cuDeviceGetCount, &count);
    for (int ordinal = 0; ordinal < count; ++ordinal) out.devices.push_back(describe(driver, cuda, ordinal));
  } catch (const CallFailure& failure) {
    out.cuda = FailedCall{failure.code, failure.name, failure.call, std::nullopt};
  } catch (const MissingFunction& missing) {
    // What cuGetProcAddress says of a function that there is not.
    out.cuda = FailedCall{abi::CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "cuGetProcAddress of " + missing.function,
                          missing.what()};
  }
  // Not earlier: a libcuda.so.1 may load the real driver only now.
  out.simulated = driver.simulated;
  out.clock = read_clocks();
  return out;
}

namespace {

// An object that a trampoline leads to owns it, unless that is the driver itself.
std::string behind(const void* address, const std::string& driver) {
  const std::string owner = owner_behind_jumps(reinterpret_cast<uintptr_t>(address));
  return owner.empty() || owner == driver ? kNoFile : owner;
}

OwnedFunction<CudaOwners> owned_cuda(const Driver& driver, const std::vector<ElfImage>& images, size_t index) {
  OwnedFunction<CudaOwners> function;
  function.name = kCudaFunctions[index].name;
  const ElfImage* image = image_of(images, driver.driver_path);
  const auto owner = [&](SymbolPath path) {
    const void* address = slot(driver.tables.of(path), index);
    const std::string name = owner_of(address, images);
    const bool own = driver.tables.is_drivers(index, address) && (!image || image->contains(address));
    if (address && !own) function.interposed.push_back(to_string(path));
    return name == kNoFile ? behind(address, driver.driver_path) : name;
  };
  function.owners.runtime = owner(SymbolPath::kRuntime);
  function.owners.dlsym = owner(SymbolPath::kDlsym);
  function.owners.linked = owner(SymbolPath::kLinked);
  function.owners.bare = owner_of(slot(driver.tables.of(SymbolPath::kBare), index), images);
  return function;
}

OwnedFunction<NvmlOwners> owned_nvml(const Nvml& nvml, const std::vector<ElfImage>& images, size_t index) {
  OwnedFunction<NvmlOwners> function;
  function.name = kNvmlFunctions[index];
  const void *given = slot(nvml.dlsym, index), *own = slot(nvml.api, index);
  function.owners.dlsym = owner_of(given, images);
  if (function.owners.dlsym == kNoFile) function.owners.dlsym = behind(given, nvml.path.value_or(""));
  function.owners.bare = owner_of(own, images);
  if (given && given != own) function.interposed.push_back(to_string(SymbolPath::kDlsym));
  return function;
}

// The driver's own addresses of each function: the exported one, and the one from its cuGetProcAddress.
using Addresses = std::array<const void*, 2>;

Addresses own_addresses(const Driver& driver, size_t index) {
  return {slot(driver.tables.of(SymbolPath::kBare), index), slot(driver.tables.bare_runtime, index)};
}

Provenance with_patches(const Driver& driver, const std::vector<ElfImage>& images, Provenance out) {
  const ElfImage* image = image_of(images, driver.driver_path);
  if (!image) {
    out.code_unreadable = driver.driver_path + " is not among the mapped objects";
    return out;
  }
  const CodeOnDisk disk(*image);
  out.code_unreadable = disk.unreadable();
  for (size_t i = 0; i < kCudaFunctionCount; ++i)
    for (const void* address : own_addresses(driver, i))
      if (address && !out.functions[i].patched) out.functions[i].patched = disk.patch_of(address);
  return out;
}

Provenance with_nvml_patches(const Driver& driver, const std::vector<ElfImage>& images, Provenance out) {
  const ElfImage* image = driver.nvml.path ? image_of(images, *driver.nvml.path) : nullptr;
  if (!image) return out;
  const CodeOnDisk disk(*image);
  for (size_t i = 0; i < kNvmlFunctionCount; ++i)
    if (const void* address = slot(driver.nvml.api, i)) out.nvml[i].patched = disk.patch_of(address);
  return out;
}

LibcudaInfo libcuda_info(const Driver& driver, const std::vector<ElfImage>& images) {
  LibcudaInfo out;
  out.loaded = driver.libcuda_path;
  out.driver = driver.driver_path;
  out.simulated = driver.simulated;
  out.kernel_module = kernel_module_version();
  const ElfImage* image = image_of(images, driver.driver_path);
  if (image && out.kernel_module) out.carries_kernel_version = carries_version(*image, *out.kernel_module);
  return out;
}

// Objects that could intercept: neither the driver nor libc, but with functions that those have.
std::vector<MappedObject> suspicious_objects(const Driver& driver, const std::vector<ElfImage>& images,
                                             const CLibrary& libc) {
  const auto expected = [&](const ElfImage& image) {
    const std::string& path = image.path();
    return path.empty() || path == driver.driver_path || path == driver.nvml.path;
  };
  std::vector<MappedObject> out;
  for (const ElfImage& image : images) {
    if (expected(image)) continue;
    MappedObject object;
    object.path = image.path();
    object.cuda_exports = image.count_exports("cu");
    object.exports_dlsym = image.find("dlsym") != nullptr;
    object.exports_init = image.find("cuInit") != nullptr;
    if ((object.cuda_exports > 0 || object.exports_dlsym) && !libc.contains(image)) out.push_back(std::move(object));
  }
  return out;
}

}  // namespace

Provenance provenance(const Driver& driver) {
  // A forwarding library may load the driver in any of its functions, not only in cuInit.
  driver.find_true_driver();
  Provenance out;
  const std::vector<ElfImage> images = mapped_images();
  for (size_t i = 0; i < kCudaFunctionCount; ++i) out.functions.push_back(owned_cuda(driver, images, i));
  for (size_t i = 0; i < kNvmlFunctionCount; ++i) out.nvml.push_back(owned_nvml(driver.nvml, images, i));
  out = with_nvml_patches(driver, images, with_patches(driver, images, std::move(out)));
  out.libcuda = libcuda_info(driver, images);
  const CLibrary libc;
  out.objects = suspicious_objects(driver, images, libc);
  out.replaced = libc.replaced();
  return out;
}

}  // namespace gvb
