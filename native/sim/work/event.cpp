#include <algorithm>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

// The position of an event on a lane, and when it was reached.
struct Moment {
  LanePoint point;
  std::atomic<int64_t> time{0};  // 0: not known yet
};

class Event {
 public:
  Event(Context* context, unsigned flags) : context_(context->handle), flags_(flags) {}

  bool timed() const { return (flags_ & abi::CU_EVENT_DISABLE_TIMING) == 0; }
  Context* context() const { return contexts().find(reinterpret_cast<uint64_t>(context_)); }

  void record(std::shared_ptr<Moment> moment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    moment_ = std::move(moment);
  }

  // Null until it is recorded.
  std::shared_ptr<const Moment> moment() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return moment_;
  }

 private:
  const abi::CUcontext context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Moment> moment_;
};

using EventTable = HandleTable<Event, 0x13>;

EventTable& events() {
  static EventTable& table = *new EventTable;
  return table;
}

Event* find_event(abi::CUevent handle) { return events().find(reinterpret_cast<uint64_t>(handle)); }

// Whether the host may know it: if work shows its effect in real time, not before its moment.
bool passed(const Context& context, const Moment& moment) {
  const int64_t time = moment.time.load(std::memory_order_acquire);
  return time != 0 && (!waits_in_time(context) || time <= raw_now());
}

struct Pending {
  Context* context;
  std::shared_ptr<const Moment> moment;  // null: nothing to wait for
};

// Nothing if the event was never recorded or its context is gone.
Pending pending(const Event& event) {
  Context* context = event.context();
  return {context, context == nullptr ? nullptr : event.moment()};
}

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

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuEventRecord, stream_handle);
  Event* event = sim::find_event(handle);
  if (event == nullptr || event->context() != context) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard<std::mutex> lock(context->mutex);
  sim::Submission submission;
  submission.item.kind = sim::ItemKind::kStamp;
  submission.item.not_before = sim::first_instruction();
  auto moment = std::make_shared<Moment>();
  submission.work.placed = [moment](const sim::Placement& placement) {
    moment->time.store(placement.end, std::memory_order_release);
  };
  moment->point = sim::submit(stream, std::move(submission));
  event->record(std::move(moment));
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned) {
  GVB_SIM_ENTER_STREAM(cuStreamWaitEvent, stream_handle);
  const Event* event = sim::find_event(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto moment = event->moment();
  if (moment == nullptr || moment->time.load() != 0) return CUDA_SUCCESS;
  const sim::Context* other = event->context();
  if (other == nullptr) return CUDA_SUCCESS;
  if (other->card != context->card) return CUDA_ERROR_NOT_SUPPORTED;  // cards have no common timeline
  const std::lock_guard<std::mutex> lock(context->mutex);
  sim::await_point(stream, moment->point);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) {
  GVB_SIM_ENTER(cuEventQuery);
  const Event* event = sim::find_event(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto [context, moment] = sim::pending(*event);
  if (moment == nullptr) return CUDA_SUCCESS;
  if (moment->time.load() == 0) context->card->look_for({moment->point});
  context->queue->collect();
  if (const CUresult fault = context->fault()) return fault;
  if (!sim::passed(*context, *moment)) return CUDA_ERROR_NOT_READY;
  context->queue->run_seen(std::max(sim::raw_now(), moment->time.load()));
  return context->fault();
}

CUresult cuEventSynchronize(CUevent handle) {
  GVB_SIM_ENTER(cuEventSynchronize);
  const Event* event = sim::find_event(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto [context, moment] = sim::pending(*event);
  if (moment == nullptr) return CUDA_SUCCESS;
  if (moment->time.load() == 0) context->card->wait_for({moment->point});
  context->queue->collect();
  if (context->queue->seen_in_time()) sim::wait_until(moment->time.load());
  context->queue->run_seen(std::max(sim::raw_now(), moment->time.load()));
  return context->fault();
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent from_handle, CUevent to_handle) {
  GVB_SIM_ENTER(cuEventElapsedTime);
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Event* from = sim::find_event(from_handle);
  const Event* to = sim::find_event(to_handle);
  if (from == nullptr || to == nullptr || !from->timed() || !to->timed()) return CUDA_ERROR_INVALID_HANDLE;
  const auto begin = from->moment();
  const auto end = to->moment();
  if (begin == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  sim::Context* context = to->context();
  if (context != nullptr) {
    if (const CUresult fault = context->fault()) return fault;
    if (begin->time.load() == 0 || end->time.load() == 0) context->card->look_for({begin->point, end->point});
    context->queue->collect();
    if (!sim::passed(*context, *begin) || !sim::passed(*context, *end)) return CUDA_ERROR_NOT_READY;
  }
  const int64_t elapsed = end->time.load() - begin->time.load();
  *milliseconds = static_cast<float>(static_cast<double>(elapsed) * sim::device_clock_rate() * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
