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
  int partition = -1;              // the card's client that it belongs to; -1: the context's own
  unsigned multiprocessors = 0;    // of that partition; 0: all
  abi::CUgraph capture = nullptr;  // the graph that its launches are added to instead of being run
  // When its work so far is over, as far as that is known.
  std::shared_ptr<std::atomic<int64_t>> tail = std::make_shared<std::atomic<int64_t>>(0);
  // Guarded by the context's mutex: the end of its work, and the points of other streams it already waits for.
  LanePoint last;
  std::map<uint64_t, uint64_t> awaited;  // points by stream id
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
  std::atomic<int> answering{0};          // threads that run kernels of this context
  std::atomic<bool> in_host_time{false};  // a host that waits for its work waits in real time
  std::mutex mutex;
  Stream default_stream;
  std::vector<Stream*> streams;                  // created by the program
  std::set<int> peers;                           // other cards whose memory its kernels may use
  std::vector<std::unique_ptr<Stream>> retired;  // destroyed ones whose work may still run

  // Sticky error, e.g. after an illegal address.
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
struct GreenView;
// The calling thread's green context; null: it has none, or the whole of a context.
const GreenView* current_green_view();

abi::CUresult create_context(abi::CUdevice ordinal, unsigned flags, abi::CUcontext* handle);
abi::CUresult destroy_context(abi::CUcontext handle);
uint64_t next_id();
// Null if the process has no such context any more.
std::shared_ptr<WorkQueue> queue_of_context(uint64_t id);

// Different cards, and no MIG instances, whose memory MIG isolates.
bool can_be_peers(int device, int other);

// A part of a context's multiprocessors.
struct SmPart {
  int client = -1;
  unsigned multiprocessors = 0;
};
abi::CUresult create_stream(Context* context, const SmPart& part, unsigned flags, int priority, abi::CUstream* handle);

// The stream that a handle means in a context (null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: its default stream);
// null if the handle is no stream of it.
Stream* stream_of(Context* context, abi::CUstream handle);

// An item for a stream's lane, and the work it does.
struct Submission {
  Item item;
  Work work;  // its point is set on submission
};
constexpr size_t kMostSubmissions = 256;  // in one submission

// Puts all on the stream's lane at one moment of the card, ordered by the rules of the default stream, and adds their
// work to the queue. The caller holds the context's mutex.
void submit(Stream* stream, Submission* all, size_t count);
LanePoint submit(Stream* stream, Submission one);
// Makes the stream's further work wait for a point of another lane. The caller holds the context's mutex.
void await_point(Stream* stream, const LanePoint& point);
// Forgets destroyed streams whose work is over. The caller holds the context's mutex.
void release_retired(Context* context);

// Waits for the work so far and makes its results visible. Null stream: the whole context.
abi::CUresult synchronise(Context* context, Stream* stream);
abi::CUresult query(Context* context, Stream* stream);

// Whether the host learns that work is over only once real time has passed its end.
inline bool waits_in_time(const Context& context) {
  return context.in_host_time.load(std::memory_order_relaxed) || context.queue->seen_in_time();
}

// Like synchronise, before memory changes by other means: see WorkQueue::settle.
void settle(Context* context, const Range& range, bool overwritten);

// The earliest time of the first instruction of work whose call returns at `until`, or now if that has passed.
int64_t first_instruction(int64_t until = 0);

// Submits work of a call that returns now.
void enqueue(Stream* stream, double nanoseconds, const Demand& demand, Work work);

// Makes finished results visible without waiting.
void look(Context* context);

}  // namespace gvb::sim

#define GVB_SIM_ENTER_CONTEXT(name)                                 \
  GVB_SIM_ENTER(name);                                              \
  const auto [context, context_code] = gvb::sim::current_context(); \
  if (context_code != gvb::abi::CUDA_SUCCESS) return context_code

// A capture accepts only kernels: every other call fails while it lasts.
#define GVB_SIM_ENTER_STREAM(name, stream_handle)                               \
  GVB_SIM_ENTER_CONTEXT(name);                                                  \
  gvb::sim::Stream* const stream = gvb::sim::stream_of(context, stream_handle); \
  if (stream == nullptr) return gvb::abi::CUDA_ERROR_INVALID_HANDLE;            \
  if (stream->capture != nullptr) return gvb::abi::CUDA_ERROR_NOT_SUPPORTED
