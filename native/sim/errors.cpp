#include "sim/driver.h"
#include "sim/exports.h"

namespace gvb::sim {
namespace {

struct ErrorText {
  abi::CUresult code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define GVB_ERROR(name, text) \
  { abi::name, #name, text }
    GVB_ERROR(CUDA_SUCCESS, "no error"),
    GVB_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    GVB_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    GVB_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    GVB_ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    GVB_ERROR(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    GVB_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    GVB_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    GVB_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    GVB_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    GVB_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    GVB_ERROR(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    GVB_ERROR(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain."),
    GVB_ERROR(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    GVB_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    GVB_ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    GVB_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    GVB_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    GVB_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    GVB_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    GVB_ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    GVB_ERROR(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    GVB_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    GVB_ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    GVB_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    GVB_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    GVB_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"),
    GVB_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    GVB_ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    GVB_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    GVB_ERROR(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    GVB_ERROR(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination"),
    GVB_ERROR(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility was attempted on non supported HW"),
    GVB_ERROR(CUDA_ERROR_MPS_CONNECTION_FAILED,
              "MPS client failed to connect to the MPS control daemon or the MPS server"),
    GVB_ERROR(CUDA_ERROR_INVALID_RESOURCE_TYPE, "invalid resource type"),
    GVB_ERROR(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "invalid resource configuration"),
    GVB_ERROR(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready to accept new MPS client requests"),
    GVB_ERROR(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client has been terminated"),
    GVB_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef GVB_ERROR
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
};

const ErrorText* find(abi::CUresult code) {
  for (const ErrorText& error : kErrors)
    if (error.code == code) return &error;
  return nullptr;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuGetErrorName(CUresult code, const char** name) {
  GVB_SIM_CALL(cuGetErrorName);
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const sim::ErrorText* error = sim::find(code);
  *name = error == nullptr ? nullptr : error->name;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  GVB_SIM_CALL(cuGetErrorString);
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const sim::ErrorText* error = sim::find(code);
  *text = error == nullptr ? nullptr : error->text;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace gvb::abi
