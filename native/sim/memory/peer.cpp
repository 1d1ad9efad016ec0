// Access to other cards' memory: kernels need it enabled, copies do not.
#include <mutex>

#include "sim/exports.h"
#include "sim/settings.h"
#include "sim/work/context.h"

namespace gvb::abi {

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  GVB_SIM_ENTER(cuDeviceCanAccessPeer);
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int own = sim::physical_device(from);
  const int other = sim::physical_device(to);
  if (own < 0 || other < 0) return CUDA_ERROR_INVALID_DEVICE;
  *can = sim::can_be_peers(own, other);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  GVB_SIM_ENTER(cuDeviceGetP2PAttribute);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int own = sim::physical_device(from);
  const int other = sim::physical_device(to);
  if (own < 0 || other < 0 || own == other) return CUDA_ERROR_INVALID_DEVICE;
  const bool linked = sim::can_be_peers(own, other);
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      *value = linked && sim::over_nvlink(sim::settings()) ? 0 : 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      *value = linked ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = linked && sim::over_nvlink(sim::settings()) ? 1 : 0;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuCtxEnablePeerAccess);
  const sim::Context* peer = sim::contexts().find(reinterpret_cast<uint64_t>(handle));
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!sim::can_be_peers(context->device, peer->device)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  const std::lock_guard<std::mutex> lock(context->mutex);
  return context->peers.insert(peer->device).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  GVB_SIM_ENTER_CONTEXT(cuCtxDisablePeerAccess);
  const sim::Context* peer = sim::contexts().find(reinterpret_cast<uint64_t>(handle));
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard<std::mutex> lock(context->mutex);
  return context->peers.erase(peer->device) > 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace gvb::abi
