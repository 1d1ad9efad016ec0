#include "sim/context.h"

#include <algorithm>

#include "sim/allocation.h"
#include "sim/clock.h"
#include "sim/pool.h"

namespace gvb::sim {
namespace {

// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
constexpr uintptr_t kLastSpecialStream = 2;

void settle(Stream* stream) {
  if (stream->marker.answers.empty()) return;
  stream->tail = std::max(stream->tail, stream->marker.lastAnswer());
  auto& answers = stream->marker.answers;
  answers.erase(
      std::remove_if(answers.begin(), answers.end(), [](const auto& answer) { return answer->end.load() != 0; }),
      answers.end());
}

bool blocking(const Stream& stream) { return (stream.flags & abi::CU_STREAM_NON_BLOCKING) == 0; }

Marker markerOfContext(Context* context) {
  std::lock_guard<std::mutex> lock(context->mutex);
  Marker marker = context->defaultStream.marker;
  for (const Stream* stream : context->streams) marker.merge(stream->marker);
  return marker;
}

void settleAll(Context* context) {
  std::lock_guard<std::mutex> lock(context->mutex);
  settle(&context->defaultStream);
  for (Stream* stream : context->streams) settle(stream);
}

}  // namespace

ContextTable& contexts() {
  static ContextTable& table = *new ContextTable;
  return table;
}

StreamTable& streams() {
  static StreamTable& table = *new StreamTable;
  return table;
}

uint64_t nextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

abi::CUresult createContext(abi::CUdevice ordinal, unsigned flags, abi::CUcontext* handle) {
  const int device = physicalDevice(ordinal);
  if (device < 0) return abi::CUDA_ERROR_INVALID_DEVICE;
  const HostCost cost(settings().context_ms * 1e6);
  auto context = std::make_unique<Context>();
  context->device = device;
  context->ordinal = ordinal;
  context->flags = flags;
  context->id = nextId();
  context->lane = region().openContext(device, settings().context_mib * kMiB);
  if (context->lane < 0) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  Context* raw = context.get();
  raw->defaultStream.context = raw;
  raw->defaultStream.id = nextId();
  *handle = reinterpret_cast<abi::CUcontext>(contexts().insert(std::move(context)));
  raw->handle = *handle;
  return abi::CUDA_SUCCESS;
}

abi::CUresult destroyContext(abi::CUcontext handle) {
  Context* live = contexts().find(reinterpret_cast<uint64_t>(handle));
  if (live == nullptr) return abi::CUDA_ERROR_INVALID_CONTEXT;
  synchronise(live, nullptr);
  const std::unique_ptr<Context> context = contexts().remove(reinterpret_cast<uint64_t>(handle));
  if (context == nullptr) return abi::CUDA_ERROR_INVALID_CONTEXT;
  freeContextBlocks(context->id);
  for (const Stream* stream : context->streams) streams().remove(reinterpret_cast<uint64_t>(stream->handle));
  region().closeContext(context->device, context->lane, settings().context_mib * kMiB);
  return abi::CUDA_SUCCESS;
}

abi::CUresult streamOf(Context* context, abi::CUstream handle, Stream** stream) {
  if (reinterpret_cast<uintptr_t>(handle) <= kLastSpecialStream) {
    *stream = &context->defaultStream;
    return abi::CUDA_SUCCESS;
  }
  *stream = streams().find(reinterpret_cast<uint64_t>(handle));
  return *stream == nullptr || (*stream)->context != context ? abi::CUDA_ERROR_INVALID_HANDLE : abi::CUDA_SUCCESS;
}

void joinDefaultStream(Stream* stream) {
  Context* context = stream->context;
  settle(stream);
  const auto follow = [&](Stream* other) {
    settle(other);
    stream->tail = std::max(stream->tail, other->tail);
    if (!other->marker.empty()) stream->marker.merge(other->marker);
  };
  if (stream == &context->defaultStream) {
    for (Stream* other : context->streams)
      if (blocking(*other)) follow(other);
  } else if (blocking(*stream)) {
    follow(&context->defaultStream);
  }
  if (!stream->marker.empty()) stream->talking.store(true, std::memory_order_release);
}

Marker markerOf(Stream* stream) {
  if (!stream->talking.load(std::memory_order_acquire)) return {};
  std::lock_guard<std::mutex> lock(stream->context->mutex);
  settle(stream);
  if (stream->marker.ready()) {
    stream->marker = {};
    stream->talking.store(false, std::memory_order_release);
  }
  return stream->marker;
}

abi::CUresult synchronise(Context* context, Stream* stream) {
  const Marker marker = stream == nullptr ? markerOfContext(context) : markerOf(stream);
  marker.waitForAnswers();
  context->queue->drain(std::max(marker.until, rawNow()));
  if (marker.until != 0) waitUntil(marker.until);
  if (!marker.answers.empty()) settleAll(context);
  poolTrimToThreshold(context->device);
  return context->fault.load(std::memory_order_relaxed);
}

abi::CUresult query(Context* context, Stream* stream) {
  if (stream->talking.load(std::memory_order_acquire) && !markerOf(stream).ready()) return abi::CUDA_ERROR_NOT_READY;
  if (!context->queue->idle()) context->queue->drain(rawNow());
  return context->fault.load(std::memory_order_relaxed);
}

void enqueue(Stream* stream, double nanoseconds, std::function<void()> run) {
  Context* context = stream->context;
  std::lock_guard<std::mutex> lock(context->mutex);
  joinDefaultStream(stream);
  const int64_t earliest = std::max(rawNow() + static_cast<int64_t>(settings().start_ns), stream->tail);
  stream->tail = region().place(context->device, context->lane, earliest, static_cast<int64_t>(nanoseconds)).end;
  context->queue->push(stream->marker, 0, std::move(run));
}

}  // namespace gvb::sim
