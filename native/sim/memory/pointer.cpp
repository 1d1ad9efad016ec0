#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

abi::CUresult pointer_attribute(const Context& context, void* value, abi::CUpointer_attribute attribute,
                                abi::CUdeviceptr address) {
  const auto block = find_block(address);
  if (value == nullptr || !block) return abi::CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case abi::CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<abi::CUcontext*>(value) = block->context == context.id ? context.handle : nullptr;
      return abi::CUDA_SUCCESS;
    case abi::CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = is_of_host(block->kind) ? abi::CU_MEMORYTYPE_HOST : abi::CU_MEMORYTYPE_DEVICE;
      return abi::CUDA_SUCCESS;
    case abi::CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<abi::CUdeviceptr*>(value) = address;
      return abi::CUDA_SUCCESS;
    case abi::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      for (int ordinal = 0; ordinal < device_count(); ++ordinal)
        if (physical_device(ordinal) == block->device) *static_cast<int*>(value) = ordinal;
      return abi::CUDA_SUCCESS;
  }
  return abi::CUDA_ERROR_INVALID_VALUE;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Block;
using sim::BlockKind;

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuMemGetAddressRange_v2);
  const auto block = sim::find_block(address);
  if (!block) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuMemHostGetDevicePointer_v2);
  const auto block = sim::find_block(reinterpret_cast<uint64_t>(host));
  if (device == nullptr || flags != 0 || !block || !sim::is_of_host(block->kind)) return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  GVB_SIM_ENTER_CONTEXT(cuMemHostGetFlags);
  const auto block = sim::find_block(reinterpret_cast<uint64_t>(host));
  if (flags == nullptr || !block || !sim::is_of_host(block->kind)) return CUDA_ERROR_INVALID_VALUE;
  *flags = block->host_flags;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuPointerGetAttribute);
  return sim::pointer_attribute(*context, value, attribute, address);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuPointerGetAttributes);
  if (count == 0 || attributes == nullptr || values == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i)
    if (const CUresult code = sim::pointer_attribute(*context, values[i], attributes[i], address)) return code;
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
