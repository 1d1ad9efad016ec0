#include <cstdio>
#include <cstring>

#include "sim/card.h"
#include "sim/driver.h"
#include "sim/exports.h"
#include "sim/mps_client.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

bool attributeOf(abi::CUdevice_attribute attribute, int device, int* value) {
  using namespace abi;
  const Settings& card = settings();
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      return *value = 1024, true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return *value = 2147483647, true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return *value = 49152, true;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return *value = 32, true;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return *value = smClockKHz(), true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return *value = visibleMultiprocessors(), true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return *value = 0, true;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return *value = pciBus(device), true;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return *value = memoryClockKHz(), true;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return *value = kMemoryBusWidth, true;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return *value = static_cast<int>(card.l2_mib * kMiB), true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return *value = 2048, true;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return *value = 3, true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return *value = static_cast<int>(card.cc / 10), true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return *value = static_cast<int>(card.cc % 10), true;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return *value = 1, true;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
      return *value = isMpsClient() ? 1 : 0, true;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return *value = -1, true;
  }
  return false;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  GVB_SIM_ENTER(cuDeviceGet);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(ordinal) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  GVB_SIM_ENTER(cuDeviceGetCount);
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = sim::deviceCount();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetName);
  if (name == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::string text = std::string(sim::kCardName).substr(0, static_cast<size_t>(size) - 1);
  std::memcpy(name, text.c_str(), text.size() + 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetUuid_v2);
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = sim::cardUuid(sim::physicalDevice(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetUuid);
  return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceTotalMem_v2);
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = static_cast<size_t>(sim::settings().memory_mib * sim::kMiB);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetAttribute);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int physical = sim::physicalDevice(device);
  if (physical < 0) return CUDA_ERROR_INVALID_DEVICE;
  return sim::attributeOf(attribute, physical, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceComputeCapability);
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *major = static_cast<int>(sim::settings().cc / 10);
  *minor = static_cast<int>(sim::settings().cc % 10);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetPCIBusId);
  if (sim::physicalDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (text == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  return sim::copyText(sim::pciBusId(sim::physicalDevice(device), 4), text, static_cast<size_t>(size))
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  GVB_SIM_ENTER(cuDeviceGetByPCIBusId);
  if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) return CUDA_ERROR_INVALID_VALUE;
  for (int ordinal = 0; ordinal < sim::deviceCount(); ++ordinal) {
    if (domain != 0 || slot != 0 || static_cast<int>(bus) != sim::pciBus(sim::physicalDevice(ordinal))) continue;
    *device = ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  GVB_SIM_ENTER(cuDeviceCanAccessPeer);
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physicalDevice(from) < 0 || sim::physicalDevice(to) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *can = from != to;
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
