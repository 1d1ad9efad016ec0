#include <algorithm>
#include <utility>

#include "sim/exports.h"
#include "sim/work/green_context.h"
#include "sim/work/launch.h"

namespace gvb::sim {

namespace {

SmPart current_part() {
  const GreenView* view = current_green_view();
  return view == nullptr ? SmPart{} : view->part;
}

}  // namespace

abi::CUresult create_stream(Context* context, const SmPart& part, unsigned flags, int priority, abi::CUstream* handle) {
  if (handle == nullptr || (flags & ~abi::CU_STREAM_NON_BLOCKING) != 0) return abi::CUDA_ERROR_INVALID_VALUE;
  auto stream = std::make_unique<Stream>();
  Stream* raw = stream.get();
  raw->context = context;
  raw->flags = flags;
  raw->priority = std::min(0, std::max(-5, priority));
  raw->id = next_id();
  const std::lock_guard<std::mutex> lock(context->mutex);
  release_retired(context);
  raw->partition = part.client;
  raw->multiprocessors = part.multiprocessors;
  raw->lane = context->card->open_lane(part.client < 0 ? context->client : part.client);
  if (raw->lane < 0) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  raw->handle = reinterpret_cast<abi::CUstream>(streams().insert(std::move(stream)));
  context->streams.push_back(raw);
  *handle = raw->handle;
  return abi::CUDA_SUCCESS;
}

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuStreamCreate);
  return sim::create_stream(context, sim::current_part(), flags, 0, handle);
}

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
  GVB_SIM_ENTER_CONTEXT(cuStreamCreateWithPriority);
  return sim::create_stream(context, sim::current_part(), flags, priority, handle);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  GVB_SIM_ENTER(cuStreamDestroy_v2);
  std::unique_ptr<sim::Stream> stream = sim::streams().remove(reinterpret_cast<uint64_t>(handle));
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  sim::Context* context = stream->context;
  const std::lock_guard<std::mutex> lock(context->mutex);
  auto& all = context->streams;
  all.erase(std::remove(all.begin(), all.end(), stream.get()), all.end());
  // Work that still runs continues.
  context->retired.push_back(std::move(stream));
  sim::release_retired(context);
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
  GVB_SIM_ENTER_CONTEXT(cuStreamIsCapturing);
  const sim::Stream* stream = sim::stream_of(context, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = stream->capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode) {
  GVB_SIM_ENTER_STREAM(cuStreamBeginCapture_v2, handle);
  if (stream->handle == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  stream->capture = sim::make_graph();
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  GVB_SIM_ENTER_CONTEXT(cuStreamEndCapture);
  sim::Stream* stream = sim::stream_of(context, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (graph == nullptr || stream->capture == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *graph = std::exchange(stream->capture, nullptr);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
