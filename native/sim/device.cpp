#include <cstdio>
#include <cstring>
#include <optional>

#include "sim/card/facts.h"
#include "sim/driver.h"
#include "sim/exports.h"
#include "sim/mps/mps_client.h"
#include "sim/settings.h"
#include "sim/work/module.h"

namespace gvb::sim {
namespace {

std::optional<int> attribute_of(abi::CUdevice_attribute attribute, int device) {
  using namespace abi;
  const CardSettings& card = card_settings(device);
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return static_cast<int>(card.shared_block_kib * 1024);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return static_cast<int>(card.shared_kib * 1024);
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return static_cast<int>(reserved_shared_bytes(card));
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return static_cast<int>(card.registers);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return static_cast<int>(card.blocks);
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      return static_cast<int>(card.integrated);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return sm_clock_khz(device);
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return visible_multiprocessors(device);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return pci_bus(device);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return memory_clock_khz(device);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return static_cast<int>(card.bus_bits);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return static_cast<int>(card.l2_mib * kMiB);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return static_cast<int>(card.threads);
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return static_cast<int>(card.copy_engines);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return static_cast<int>(card.cc / 10);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return static_cast<int>(card.cc % 10);
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
      return is_mps_client() ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  GVB_SIM_ENTER(cuDeviceGet);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physical_device(ordinal) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  GVB_SIM_ENTER(cuDeviceGetCount);
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = sim::device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetName);
  if (name == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physical_device(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::string text = sim::card_name(sim::physical_device(device)).substr(0, static_cast<size_t>(size) - 1);
  std::memcpy(name, text.c_str(), text.size() + 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetUuid_v2);
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physical_device(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = sim::card_uuid(sim::physical_device(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetUuid);
  return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceTotalMem_v2);
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::physical_device(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = static_cast<size_t>(sim::card_settings(sim::physical_device(device)).memory_mib * sim::kMiB);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetAttribute);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int physical = sim::physical_device(device);
  if (physical < 0) return CUDA_ERROR_INVALID_DEVICE;
  const auto found = sim::attribute_of(attribute, physical);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  *value = *found;
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceComputeCapability);
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int physical = sim::physical_device(device);
  if (physical < 0) return CUDA_ERROR_INVALID_DEVICE;
  *major = static_cast<int>(sim::card_settings(physical).cc / 10);
  *minor = static_cast<int>(sim::card_settings(physical).cc % 10);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetPCIBusId);
  if (sim::physical_device(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (text == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  return sim::copy_text(sim::pci_bus_id(sim::physical_device(device), 4), text, static_cast<size_t>(size))
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
  for (int ordinal = 0; ordinal < sim::device_count(); ++ordinal) {
    if (domain != 0 || slot != 0 || static_cast<int>(bus) != sim::pci_bus(sim::physical_device(ordinal))) continue;
    *device = ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace gvb::abi
