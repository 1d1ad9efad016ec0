#include "sim/work/context.h"

#include <algorithm>

#include "sim/card/region.h"
#include "sim/checkpoint_target.h"
#include "sim/clock.h"
#include "sim/memory/allocation.h"
#include "sim/memory/pool.h"
#include "sim/mps/mps_client.h"
#include "sim/work/green_context.h"

namespace gvb::sim {
namespace {

// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
constexpr uintptr_t kLastSpecialStream = 2;
// A real GPU's queue is finite too; beyond this length the submitting thread does part of the work.
constexpr size_t kMaxPending = 512;
constexpr size_t kLookEvery = 64;
constexpr int64_t kAnsweringEnds = 100'000;

bool blocking(const Stream& stream) { return (stream.flags & abi::CU_STREAM_NON_BLOCKING) == 0; }

void follow(Stream* stream, Stream* other) {
  if (other->last.items == 0 || stream->context->card->is_over(other->last)) return;
  uint64_t& awaited = stream->awaited[other->id];
  if (awaited == other->last.items) return;
  awaited = other->last.items;
  await_point(stream, other->last);
}

// Waits while the lane is full, as a driver does when its queue is. Returns the point of the last item.
LanePoint place(Stream* stream, const Item* const* items, size_t count) {
  Context* context = stream->context;
  while (!context->card->has_room(stream->lane, count)) {
    context->card->wait_for({{stream->lane, stream->last.items - kLaneItems / 2}});
    context->queue->collect();
  }
  return stream->last = context->card->submit(stream->lane, items, count);
}

// The default stream follows all blocking streams, and they follow it.
void join_default_stream(Stream* stream) {
  Context* context = stream->context;
  if (stream == &context->default_stream) {
    for (Stream* other : context->streams)
      if (blocking(*other)) follow(stream, other);
    for (const auto& other : context->retired)
      if (blocking(*other)) follow(stream, other.get());
  } else if (blocking(*stream)) {
    follow(stream, &context->default_stream);
  }
}

Points points_of(Context* context, Stream* stream) {
  const std::lock_guard<std::mutex> lock(context->mutex);
  Points points;
  const auto add = [&](const Stream& each) {
    if (each.last.items != 0) points.push_back(each.last);
  };
  if (stream != nullptr) {
    add(*stream);
    return points;
  }
  add(context->default_stream);
  for (const Stream* each : context->streams) add(*each);
  for (const auto& each : context->retired) add(*each);
  return points;
}

int64_t tail_of(Context* context, const Stream* stream) {
  const std::lock_guard<std::mutex> lock(context->mutex);
  if (stream != nullptr) return stream->tail->load();
  int64_t tail = context->default_stream.tail->load();
  for (const Stream* each : context->streams) tail = std::max(tail, each->tail->load());
  for (const auto& each : context->retired) tail = std::max(tail, each->tail->load());
  return tail;
}

struct Queues {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<WorkQueue>> by_context;
};

Queues& queues() {
  static Queues& all = *new Queues;
  return all;
}

}  // namespace

std::shared_ptr<WorkQueue> queue_of_context(uint64_t id) {
  const std::lock_guard<std::mutex> lock(queues().mutex);
  const auto found = queues().by_context.find(id);
  return found == queues().by_context.end() ? nullptr : found->second.lock();
}

ContextTable& contexts() {
  static ContextTable& table = *new ContextTable;
  return table;
}

StreamTable& streams() {
  static StreamTable& table = *new StreamTable;
  return table;
}

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

bool can_be_peers(int device, int other) {
  return settings().peer_access != 0 && device != other && card_settings(device).parent < 0 &&
         card_settings(other).parent < 0;
}

abi::CUresult create_context(abi::CUdevice ordinal, unsigned flags, abi::CUcontext* handle) {
  const int device = physical_device(ordinal);
  if (device < 0) return abi::CUDA_ERROR_INVALID_DEVICE;
  const HostCost cost(settings().context_ms * 1e6);
  auto context = std::make_unique<Context>();
  context->device = device;
  context->ordinal = ordinal;
  context->flags = flags;
  context->id = next_id();
  context->card = &region().card(device);
  const int64_t bytes = settings().context_mib * kMiB;
  if (is_mps_client() && context->card->party_failed()) return abi::CUDA_ERROR_MPS_SERVER_NOT_READY;
  if (card_settings(device).recovery_refuses != 0 && raw_now() < context->card->recovered_at())
    return abi::CUDA_ERROR_SYSTEM_NOT_READY;
  if (!region().take(device, bytes)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  context->client = context->card->open_client(is_mps_client(), multiprocessor_limit(device));
  Stream& stream = context->default_stream;
  if (context->client >= 0) stream.lane = context->card->open_lane(context->client);
  if (stream.lane < 0) {
    if (context->client >= 0) context->card->close_client(context->client);
    region().give(device, bytes);
    return abi::CUDA_ERROR_OUT_OF_MEMORY;
  }
  region().count_context(device, 1);
  become_checkpoint_target();
  context->queue = std::make_shared<WorkQueue>(context->card);
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    queues().by_context[context->id] = context->queue;
  }
  Context* raw = context.get();
  stream.context = raw;
  stream.id = next_id();
  *handle = reinterpret_cast<abi::CUcontext>(contexts().insert(std::move(context)));
  raw->handle = *handle;
  return abi::CUDA_SUCCESS;
}

abi::CUresult destroy_context(abi::CUcontext handle) {
  Context* live = contexts().find(reinterpret_cast<uint64_t>(handle));
  if (live == nullptr) return abi::CUDA_ERROR_INVALID_CONTEXT;
  synchronise(live, nullptr);
  const std::unique_ptr<Context> context = contexts().remove(reinterpret_cast<uint64_t>(handle));
  if (context == nullptr) return abi::CUDA_ERROR_INVALID_CONTEXT;
  // Abandoned kernels that answer the host still read memory that is freed below.
  while (context->answering.load() > 0) sleep_for(kAnsweringEnds);
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    queues().by_context.erase(context->id);
  }
  context->queue->forget();
  free_context_blocks(context->id);
  for (const Stream* stream : context->streams) streams().remove(reinterpret_cast<uint64_t>(stream->handle));
  context->card->close_client(context->client);
  region().count_context(context->device, -1);
  region().give(context->device, settings().context_mib * kMiB);
  return abi::CUDA_SUCCESS;
}

Stream* stream_of(Context* context, abi::CUstream handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= kLastSpecialStream) {
    const GreenView* view = current_green_view();
    return view != nullptr && view->context == context ? view->default_stream : &context->default_stream;
  }
  Stream* stream = streams().find(reinterpret_cast<uint64_t>(handle));
  return stream == nullptr || stream->context != context ? nullptr : stream;
}

void await_point(Stream* stream, const LanePoint& point) {
  Item item;
  item.kind = ItemKind::kWait;
  item.after = point;
  const Item* only = &item;
  Work work;
  work.point = place(stream, &only, 1);
  stream->context->queue->push(std::move(work));
}

void submit(Stream* stream, Submission* all, size_t count) {
  Context* context = stream->context;
  join_default_stream(stream);
  const Item* items[kMostSubmissions];
  for (size_t i = 0; i < count; ++i) {
    all[i].item.priority = stream->priority;
    items[i] = &all[i].item;
  }
  const LanePoint last = place(stream, items, count);
  bool published = false;
  for (size_t i = 0; i < count; ++i) {
    Work& work = all[i].work;
    work.point = {last.lane, last.items - count + 1 + i};
    work.tail = stream->tail;
    published |= in_time(work.seen);
    context->queue->push(std::move(work));
  }
  if (published) publish(context->queue);
  const size_t pending = context->queue->pending();
  if (pending > kMaxPending && pending % kLookEvery == 0) look(context);
}

LanePoint submit(Stream* stream, Submission one) {
  submit(stream, &one, 1);
  return stream->last;
}

void release_retired(Context* context) {
  auto& retired = context->retired;
  const auto over = [&](const auto& stream) {
    if (stream->last.items != 0 && !context->card->is_over(stream->last)) return false;
    context->default_stream.awaited.erase(stream->id);
    context->queue->collect();  // must run before its places on the card are reused
    context->card->close_lane(stream->lane);
    return true;
  };
  retired.erase(std::remove_if(retired.begin(), retired.end(), over), retired.end());
}

void look(Context* context) {
  context->card->look();
  context->queue->run_seen(raw_now());
}

abi::CUresult synchronise(Context* context, Stream* stream) {
  context->card->wait_for(points_of(context, stream));
  context->queue->collect();
  const int64_t tail = tail_of(context, stream);
  if (waits_in_time(*context)) wait_until(tail);
  context->queue->run_seen(std::max(raw_now(), tail));
  pool_trim_to_threshold(context->device);
  wait_until(context->card->fault_told(context->client));
  return context->fault();
}

void settle(Context* context, const Range& range, bool overwritten) {
  synchronise(context, nullptr);
  context->queue->settle(range, overwritten);
}

abi::CUresult query(Context* context, Stream* stream) {
  const auto told = [context] { return context->card->fault_told(context->client) <= raw_now(); };
  if (context->queue->idle()) return told() ? context->fault() : abi::CUDA_ERROR_NOT_READY;
  const bool over = context->card->look_for(points_of(context, stream));
  context->queue->collect();
  const int64_t tail = tail_of(context, stream);
  if (!over || (waits_in_time(*context) && tail > raw_now())) return abi::CUDA_ERROR_NOT_READY;
  context->queue->run_seen(std::max(raw_now(), tail));
  return told() ? context->fault() : abi::CUDA_ERROR_NOT_READY;
}

int64_t first_instruction(int64_t until) {
  return std::max(until, raw_now()) + static_cast<int64_t>(settings().start_ns);
}

void enqueue(Stream* stream, double nanoseconds, const Demand& demand, Work work) {
  const std::lock_guard<std::mutex> lock(stream->context->mutex);
  Submission submission;
  submission.item.not_before = first_instruction();
  submission.item.alone_ns = nanoseconds;
  submission.item.demand = demand;
  submission.work = std::move(work);
  submit(stream, std::move(submission));
}

}  // namespace gvb::sim
