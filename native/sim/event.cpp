#include <algorithm>

#include "sim/clock.h"
#include "sim/context.h"
#include "sim/exports.h"

namespace gvb::sim {
namespace {

// A moment of the device timeline: when the work before it is over.
struct Moment {
  int64_t time = 0;
  Marker marker;
};

class Event {
 public:
  Event(Context* context, unsigned flags) : context_(context->handle), flags_(flags) {}

  bool timed() const { return (flags_ & abi::CU_EVENT_DISABLE_TIMING) == 0; }
  Context* context() const { return contexts().find(reinterpret_cast<uint64_t>(context_)); }

  void record(const Moment& moment) {
    std::lock_guard<std::mutex> lock(mutex_);
    moment_ = moment;
    recorded_ = true;
  }

  bool recorded(Moment* moment) const {
    std::lock_guard<std::mutex> lock(mutex_);
    *moment = moment_;
    moment->time = std::max(moment->time, moment->marker.lastAnswer());
    return recorded_;
  }

 private:
  const abi::CUcontext context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  Moment moment_;
  bool recorded_ = false;
};

using EventTable = HandleTable<Event, 0x13>;

EventTable& events() {
  static EventTable& table = *new EventTable;
  return table;
}

Event* findEvent(abi::CUevent handle) { return events().find(reinterpret_cast<uint64_t>(handle)); }

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Event;
using sim::Moment;

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuEventCreate);
  if (handle == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<CUevent>(sim::events().insert(std::make_unique<Event>(context, flags)));
  return *handle == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  GVB_SIM_ENTER(cuEventDestroy_v2);
  return sim::events().remove(reinterpret_cast<uint64_t>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuEventRecord, streamHandle);
  Event* event = sim::findEvent(handle);
  if (event == nullptr || event->context() != context) return CUDA_ERROR_INVALID_HANDLE;
  std::lock_guard<std::mutex> lock(context->mutex);
  sim::joinDefaultStream(stream);
  const auto start = static_cast<int64_t>(sim::settings().start_ns);
  stream->tail = std::max(stream->tail, sim::rawNow() + start);
  event->record({stream->tail, stream->marker});
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream streamHandle, CUevent handle, unsigned) {
  GVB_SIM_ENTER_STREAM(cuStreamWaitEvent, streamHandle);
  const Event* event = sim::findEvent(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Moment moment;
  if (!event->recorded(&moment)) return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(context->mutex);
  stream->tail = std::max(stream->tail, moment.time);
  stream->marker.merge(moment.marker);
  if (!stream->marker.empty()) stream->talking.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) {
  GVB_SIM_ENTER(cuEventQuery);
  const Event* event = sim::findEvent(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Moment moment;
  event->recorded(&moment);
  if (!moment.marker.ready()) return CUDA_ERROR_NOT_READY;
  sim::Context* context = event->context();
  if (context == nullptr) return CUDA_SUCCESS;
  context->queue->drain(sim::rawNow());
  return context->fault.load(std::memory_order_relaxed);
}

CUresult cuEventSynchronize(CUevent handle) {
  GVB_SIM_ENTER(cuEventSynchronize);
  const Event* event = sim::findEvent(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Moment moment;
  event->recorded(&moment);
  moment.marker.waitForAnswers();
  sim::Context* context = event->context();
  if (context != nullptr) context->queue->drain(std::max(moment.marker.until, sim::rawNow()));
  if (moment.marker.until != 0) sim::waitUntil(moment.marker.until);
  return context == nullptr ? CUDA_SUCCESS : context->fault.load(std::memory_order_relaxed);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent fromHandle, CUevent toHandle) {
  GVB_SIM_ENTER(cuEventElapsedTime);
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Event* from = sim::findEvent(fromHandle);
  const Event* to = sim::findEvent(toHandle);
  if (from == nullptr || to == nullptr || !from->timed() || !to->timed()) return CUDA_ERROR_INVALID_HANDLE;
  Moment begin;
  Moment end;
  if (!from->recorded(&begin) || !to->recorded(&end)) return CUDA_ERROR_INVALID_HANDLE;
  if (!begin.marker.ready() || !end.marker.ready()) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(end.time - begin.time) * sim::deviceClockRate() * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
