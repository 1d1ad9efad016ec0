#include <mutex>

#include "sim/exports.h"
#include "sim/settings.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

struct Primary {
  std::mutex mutex;
  abi::CUcontext handle = nullptr;
  unsigned retained = 0;
  unsigned flags = 0;
};

Primary* primary_of(abi::CUdevice device) {
  static Primary* const primaries = new Primary[kMaxDevices];
  const int physical = physical_device(device);
  return physical < 0 ? nullptr : &primaries[physical];
}

abi::CUresult destroy(Primary* primary) {
  const abi::CUcontext handle = primary->handle;
  primary->handle = nullptr;
  return handle == nullptr ? abi::CUDA_SUCCESS : destroy_context(handle);
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Primary;

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  GVB_SIM_ENTER(cuDevicePrimaryCtxRetain);
  Primary* primary = sim::primary_of(device);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(primary->mutex);
  if (primary->handle == nullptr) {
    const CUresult result = sim::create_context(device, primary->flags, &primary->handle);
    if (result != CUDA_SUCCESS) return result;
  }
  ++primary->retained;
  *handle = primary->handle;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  GVB_SIM_ENTER(cuDevicePrimaryCtxRelease_v2);
  Primary* primary = sim::primary_of(device);
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(primary->mutex);
  if (primary->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return --primary->retained == 0 ? sim::destroy(primary) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  GVB_SIM_ENTER(cuDevicePrimaryCtxGetState);
  Primary* primary = sim::primary_of(device);
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(primary->mutex);
  *flags = primary->flags;
  *active = primary->handle != nullptr;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  GVB_SIM_ENTER(cuDevicePrimaryCtxReset_v2);
  Primary* primary = sim::primary_of(device);
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(primary->mutex);
  primary->flags = 0;
  return sim::destroy(primary);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  GVB_SIM_ENTER(cuDevicePrimaryCtxSetFlags_v2);
  Primary* primary = sim::primary_of(device);
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(primary->mutex);
  if (primary->handle != nullptr && primary->flags != flags && sim::settings().driver_version < 11000)
    return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
  primary->flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
