#include <vector>

#include "sim/exports.h"
#include "sim/work/green_context.h"

namespace gvb::sim {
namespace {

thread_local abi::CUcontext current = nullptr;  // top of the thread's stack; `below` holds the rest
thread_local std::vector<abi::CUcontext> below;

Context* find(abi::CUcontext handle) {
  const GreenView* view = green_view(handle);
  return view != nullptr ? view->context : contexts().find(reinterpret_cast<uint64_t>(handle));
}

void pop() {
  current = below.empty() ? nullptr : below.back();
  if (!below.empty()) below.pop_back();
}

}  // namespace

CurrentContext current_context() {
  if (current == nullptr) return {nullptr, abi::CUDA_ERROR_INVALID_CONTEXT};
  Context* context = find(current);
  if (context == nullptr) return {nullptr, abi::CUDA_ERROR_CONTEXT_IS_DESTROYED};
  return {context, context->fault()};
}

const GreenView* current_green_view() { return green_view(current); }

}  // namespace gvb::sim

namespace gvb::abi {

using sim::Context;

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice device) {
  GVB_SIM_ENTER(cuCtxCreate_v2);
  sim::region().act(sim::Act::kContext);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = sim::create_context(device, flags, handle);
  if (result == CUDA_SUCCESS) {
    if (sim::current != nullptr) sim::below.push_back(sim::current);
    sim::current = *handle;
  }
  return result;
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  GVB_SIM_ENTER(cuCtxDestroy_v2);
  const CUresult result = sim::destroy_context(handle);
  if (result == CUDA_SUCCESS && sim::current == handle) sim::pop();
  return result;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  GVB_SIM_ENTER(cuCtxSetCurrent);
  if (handle == nullptr)
    sim::pop();
  else if (sim::find(handle) == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  else
    sim::current = handle;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  GVB_SIM_ENTER(cuCtxGetCurrent);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = sim::current;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  GVB_SIM_ENTER(cuCtxPushCurrent_v2);
  if (sim::find(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (sim::current != nullptr) sim::below.push_back(sim::current);
  sim::current = handle;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  GVB_SIM_ENTER(cuCtxPopCurrent_v2);
  if (sim::current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (handle != nullptr) *handle = sim::current;
  sim::pop();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  GVB_SIM_ENTER(cuCtxGetDevice);
  const auto [context, code] = sim::current_context();
  if (context == nullptr) return code;  // a failed context still belongs to its device
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = context->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  GVB_SIM_ENTER(cuCtxGetDevice_v2);
  const auto [current, code] = sim::current_context();
  const sim::Context* context = handle == nullptr ? current : sim::find(handle);
  if (context == nullptr) return handle == nullptr ? code : CUDA_ERROR_INVALID_CONTEXT;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = context->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  GVB_SIM_ENTER_CONTEXT(cuCtxSynchronize);
  return sim::synchronise(context, nullptr);
}

CUresult cuCtxGetFlags(unsigned* flags) {
  GVB_SIM_ENTER_CONTEXT(cuCtxGetFlags);
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  GVB_SIM_ENTER(cuCtxGetApiVersion);
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (handle != nullptr ? sim::find(handle) == nullptr : sim::current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  GVB_SIM_ENTER_CONTEXT(cuCtxGetLimit);
  if (value == nullptr || (limit != CU_LIMIT_STACK_SIZE && limit != CU_LIMIT_MALLOC_HEAP_SIZE))
    return CUDA_ERROR_INVALID_VALUE;
  *value = limit == CU_LIMIT_STACK_SIZE ? 1024 : 8 << 20;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  GVB_SIM_ENTER_CONTEXT(cuCtxGetCacheConfig);
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  GVB_SIM_ENTER_CONTEXT(cuCtxGetStreamPriorityRange);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  GVB_SIM_ENTER(cuCtxGetId);
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = sim::find(handle != nullptr ? handle : sim::current);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
