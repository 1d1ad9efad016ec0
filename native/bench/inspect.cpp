#include "bench/inspect.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/device_session.h"
#include "driver/libcuda_images.h"
#include "driver/mapped_images.h"

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
    driver.find_true_driver();
    int version = 0, count = 0;
    if (cuda.api.cuDriverGetVersion && cuda.api.cuDriverGetVersion(&version) == CUDA_SUCCESS)
      out.cuda_version = version;
    GVB_CALL(cuda, "counting devices", cuDeviceGetCount, &count);
    for (int ordinal = 0; ordinal < count; ++ordinal) out.devices.push_back(describe(driver, cuda, ordinal));
  } catch (const CallFailure& failure) {
    out.cuda_error = CodeInfo{failure.code, failure.name, failure.call};
  }
  out.clock = read_clocks();
  return out;
}

namespace {

// The driver's own addresses of each function: the exported one, and what its cuGetProcAddress answers.
using Addresses = std::array<const void*, 2>;

Addresses own_addresses(const Driver& driver, size_t index) {
  return {slot(driver.tables.of(SymbolPath::kBare), index), slot(driver.tables.bare_runtime, index)};
}

// Not beyond the function's end, where the next one may be the patched one.
size_t compared_bytes(const ElfImage& image, const void* address) {
  const size_t size = image.size_at(address);
  return size > 0 ? std::min(size, CodeOnDisk::kCompared) : CodeOnDisk::kCompared;
}

void find_patches(const Driver& driver, const std::vector<ElfImage>& images, Provenance& out) {
  const ElfImage* image = image_of(images, driver.driver_path);
  if (!image) {
    out.code_unreadable = driver.driver_path + " is not among the mapped objects";
    return;
  }
  const CodeOnDisk disk(*image);
  out.code_unreadable = disk.unreadable();
  for (size_t i = 0; i < kCudaFunctionCount; ++i)
    for (const void* address : own_addresses(driver, i))
      if (address && !out.cuda[i].patch) out.cuda[i].patch = disk.patch_at(address, compared_bytes(*image, address));
}

void find_nvml_patches(const Driver& driver, const std::vector<ElfImage>& images, Provenance& out) {
  const ElfImage* image = driver.nvml.path ? image_of(images, *driver.nvml.path) : nullptr;
  if (!image) return;
  const CodeOnDisk disk(*image);
  for (size_t i = 0; i < kNvmlFunctionCount; ++i)
    if (const void* address = slot(driver.nvml.api, i))
      out.nvml[i].patch = disk.patch_at(address, compared_bytes(*image, address));
}

LibcudaInfo libcuda_info(const Driver& driver, const std::vector<ElfImage>& images) {
  LibcudaInfo out{driver.libcuda_path, driver.driver_path, driver.simulated, kernel_module_version(), std::nullopt};
  const ElfImage* image = image_of(images, driver.driver_path);
  if (image && out.kernel_module) out.carries_kernel_version = carries_version(*image, *out.kernel_module);
  return out;
}

// Objects that could intercept: neither the driver nor libc, and with functions that driver or libc have.
std::vector<MappedObject> suspicious_objects(const Driver& driver, const std::vector<ElfImage>& images) {
  const auto expected = [&](const std::string& path) {
    if (path.empty() || path == driver.driver_path || path == driver.nvml.path) return true;
    for (const char* library : {"/libc.so.", "/libdl.so.", "/ld-linux"})
      if (path.find(library) != std::string::npos) return true;
    return false;
  };
  std::vector<MappedObject> out;
  for (const ElfImage& image : images) {
    if (expected(image.path())) continue;
    const unsigned exports = image.count_exports("cu");
    const bool has_dlsym = image.find("dlsym") != nullptr, has_init = image.find("cuInit") != nullptr;
    if (exports > 0 || has_dlsym) out.push_back({image.path(), exports, has_dlsym, has_init});
  }
  return out;
}

}  // namespace

Provenance provenance(const Driver& driver) {
  // A forwarder may load the driver with any of its functions, not with cuInit alone.
  driver.find_true_driver();
  Provenance out;
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    FunctionOwners owners{kCudaFunctions[i].name, {}, {}};
    for (const SymbolPath path : kSymbolPaths)
      owners.owners[static_cast<size_t>(path)] = owner_of(slot(driver.tables.of(path), i));
    out.cuda.push_back(std::move(owners));
  }
  for (size_t i = 0; i < kNvmlFunctionCount; ++i) {
    FunctionOwners owners{kNvmlFunctions[i], {}, {}};
    owners.owners[static_cast<size_t>(SymbolPath::kDlsym)] = owner_of(slot(driver.nvml.dlsym, i));
    owners.owners[static_cast<size_t>(SymbolPath::kBare)] = owner_of(slot(driver.nvml.api, i));
    out.nvml.push_back(std::move(owners));
  }
  const std::vector<ElfImage> images = mapped_images();
  find_patches(driver, images, out);
  find_nvml_patches(driver, images, out);
  out.libcuda = libcuda_info(driver, images);
  out.objects = suspicious_objects(driver, images);
  return out;
}

}  // namespace gvb
