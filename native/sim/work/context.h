#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "driver/cuda_abi.h"
#include "sim/driver.h"
#include "sim/handle_table.h"
#include "sim/work/work_queue.h"

namespace gvb::sim {

struct Context;

struct Stream {
  Context* context = nullptr;
  abi::CUstream handle = nullptr;  // null: the context's default stream
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  int lane = -1;
  abi::CUgraph capture = nullptr;  // what its launches are added to instead of being run
  // When its work so far is over, as far as is known.
  std::shared_ptr<std::atomic<int64_t>> tail = std::make_shared<std::atomic<int64_t>>(0);
  // Guarded by the context's mutex: how far it has got, and how far it already waits for others.
  LanePoint last;
  std::map<uint64_t, uint64_t> awaited;  // by id
};

struct Context {
  abi::CUcontext handle = nullptr;
  int device = 0;  // its place among the cards
  abi::CUdevice ordinal = 0;
  unsigned flags = 0;
  uint64_t id = 0;
  Card* card = nullptr;
  int client = -1;
  std::shared_ptr<WorkQueue> queue;
  std::atomic<int> answering{0};          // threads that stand for kernels of this context
  std::atomic<bool> in_host_time{false};  // a host that waits for its work waits until the card's time has come
  std::mutex mutex;
  Stream default_stream;
  std::vector<Stream*> streams;                  // the created ones
  std::set<int> peers;                           // cards whose memory its kernels may use
  std::vector<std::unique_ptr<Stream>> retired;  // destroyed ones whose work may go on

  // Sticky, as after an illegal address.
  abi::CUresult fault() const { return static_cast<abi::CUresult>(card->fault(client)); }
};

using ContextTable = HandleTable<Context, 0x11>;
using StreamTable = HandleTable<Stream, 0x12>;
ContextTable& contexts();
StreamTable& streams();

// The calling thread's context: INVALID_CONTEXT without one, its sticky fault when it has one.
struct CurrentContext {
  Context* context;
  abi::CUresult code;
};
CurrentContext current_context();

abi::CUresult create_context(abi::CUdevice ordinal, unsigned flags, abi::CUcontext* handle);
abi::CUresult destroy_context(abi::CUcontext handle);
uint64_t next_id();

// Cards, and neither the same one nor instances, whose memory MIG keeps apart.
bool can_be_peers(int device, int other);

// The stream that a handle means in a context (null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: its default stream);
// null for what is no stream of it.
Stream* stream_of(Context* context, abi::CUstream handle);

// What is put on a stream's lane, and what it does.
struct Submission {
  Item item;
  Work work;  // its point is set when it is submitted
};
constexpr size_t kMostSubmissions = 256;  // at one moment

// With the context's mutex held: puts them on the stream's lane at one moment of the card, behind what the rules of the
// default stream say, and what they do into the queue.
void submit(Stream* stream, Submission* all, size_t count);
LanePoint submit(Stream* stream, Submission one);
// With the context's mutex held: the stream's further work waits for a point of another lane.
void await_point(Stream* stream, const LanePoint& point);
// With the context's mutex held: forgets destroyed streams whose work is over.
void release_retired(Context* context);

// Waits for the work so far and makes its results visible. Null stream: the whole context.
abi::CUresult synchronise(Context* context, Stream* stream);
abi::CUresult query(Context* context, Stream* stream);

// Whether the host learns that work is over no sooner than the card's time has passed its end.
inline bool waits_in_time(const Context& context) {
  return context.in_host_time.load(std::memory_order_relaxed) || context.queue->seen_in_time();
}

// As synchronise, before memory changes by other means: see WorkQueue::settle.
void settle(Context* context, const Range& range, bool overwritten);

// When work whose call returns at `until`, or later when that has passed, can have its first instruction.
int64_t first_instruction(int64_t until = 0);

// Submits work of a call that returns now.
void enqueue(Stream* stream, double nanoseconds, const Demand& demand, Work work);

// Without waiting; the results that are there are made visible.
void look(Context* context);

}  // namespace gvb::sim

#define GVB_SIM_ENTER_CONTEXT(name)                                 \
  GVB_SIM_ENTER(name);                                              \
  const auto [context, context_code] = gvb::sim::current_context(); \
  if (context_code != gvb::abi::CUDA_SUCCESS) return context_code

// A capture takes kernels alone: everything else is refused while it lasts.
#define GVB_SIM_ENTER_STREAM(name, stream_handle)                               \
  GVB_SIM_ENTER_CONTEXT(name);                                                  \
  gvb::sim::Stream* const stream = gvb::sim::stream_of(context, stream_handle); \
  if (stream == nullptr) return gvb::abi::CUDA_ERROR_INVALID_HANDLE;            \
  if (stream->capture != nullptr) return gvb::abi::CUDA_ERROR_NOT_SUPPORTED
