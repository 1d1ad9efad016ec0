#include <algorithm>

#include "sim/context.h"
#include "sim/exports.h"

namespace gvb::sim {
namespace {

abi::CUresult createStream(Context* context, unsigned flags, int priority, abi::CUstream* handle) {
  if (handle == nullptr || (flags & ~abi::CU_STREAM_NON_BLOCKING) != 0) return abi::CUDA_ERROR_INVALID_VALUE;
  auto stream = std::make_unique<Stream>();
  Stream* raw = stream.get();
  raw->context = context;
  raw->flags = flags;
  raw->priority = std::min(0, std::max(-5, priority));
  raw->id = nextId();
  std::lock_guard<std::mutex> lock(context->mutex);
  raw->handle = reinterpret_cast<abi::CUstream>(streams().insert(std::move(stream)));
  context->streams.push_back(raw);
  *handle = raw->handle;
  return abi::CUDA_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuStreamCreate);
  return sim::createStream(context, flags, 0, handle);
}

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
  GVB_SIM_ENTER_CONTEXT(cuStreamCreateWithPriority);
  return sim::createStream(context, flags, priority, handle);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  GVB_SIM_ENTER(cuStreamDestroy_v2);
  sim::Stream* stream = sim::streams().find(reinterpret_cast<uint64_t>(handle));
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  sim::Context* context = stream->context;
  {
    std::lock_guard<std::mutex> lock(context->mutex);
    // What is still running goes on: the default stream keeps waiting for it.
    context->defaultStream.marker.merge(stream->marker);
    if (!stream->marker.empty()) context->defaultStream.talking.store(true, std::memory_order_release);
    auto& all = context->streams;
    all.erase(std::remove(all.begin(), all.end(), stream), all.end());
  }
  sim::streams().remove(reinterpret_cast<uint64_t>(handle));
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  GVB_SIM_ENTER_STREAM(cuStreamSynchronize, handle);
  return sim::synchronise(context, stream);
}

CUresult cuStreamQuery(CUstream handle) {
  GVB_SIM_ENTER_STREAM(cuStreamQuery, handle);
  return sim::query(context, stream);
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  GVB_SIM_ENTER_STREAM(cuStreamGetFlags, handle);
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  GVB_SIM_ENTER_STREAM(cuStreamGetPriority, handle);
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  GVB_SIM_ENTER_STREAM(cuStreamGetId, handle);
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  GVB_SIM_ENTER_STREAM(cuStreamIsCapturing, handle);
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
  GVB_SIM_ENTER(cuStreamBeginCapture_v2);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  GVB_SIM_ENTER(cuStreamEndCapture);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace gvb::abi
