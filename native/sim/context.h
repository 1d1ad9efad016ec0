#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/cuda_abi.h"
#include "sim/driver.h"
#include "sim/handle_table.h"
#include "sim/work_queue.h"

namespace gvb::sim {

struct Context;

struct Stream {
  Context* context = nullptr;
  abi::CUstream handle = nullptr;  // null: the context's default stream
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  std::atomic<bool> talking{false};  // whether the marker says anything
  // Guarded by the context's mutex: the end of the work so far on the device timeline, and what the host waits for.
  int64_t tail = 0;
  Marker marker;
};

struct Context {
  abi::CUcontext handle = nullptr;
  int device = 0;  // physical
  abi::CUdevice ordinal = 0;
  unsigned flags = 0;
  uint64_t id = 0;
  int lane = -1;
  std::atomic<abi::CUresult> fault{abi::CUDA_SUCCESS};  // sticky, as after an illegal address
  std::shared_ptr<WorkQueue> queue = std::make_shared<WorkQueue>();
  std::mutex mutex;
  Stream defaultStream;
  std::vector<Stream*> streams;  // the created ones
};

using ContextTable = HandleTable<Context, 0x11>;
using StreamTable = HandleTable<Stream, 0x12>;
ContextTable& contexts();
StreamTable& streams();

// The calling thread's context: INVALID_CONTEXT without one, its sticky fault when it has one.
abi::CUresult currentContext(Context** context);

abi::CUresult createContext(abi::CUdevice ordinal, unsigned flags, abi::CUcontext* handle);
abi::CUresult destroyContext(abi::CUcontext handle);
uint64_t nextId();

// The stream a handle means in a context (null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: its default stream).
abi::CUresult streamOf(Context* context, abi::CUstream handle, Stream** stream);

// With the context's mutex held: default-stream rules. Work submitted next to `stream` follows what it has to follow.
void joinDefaultStream(Stream* stream);

// The stream's marker including answers that have ended, which move its tail.
Marker markerOf(Stream* stream);

// Waits for what has to be waited for in real time and makes the results visible. Null stream: the whole context.
abi::CUresult synchronise(Context* context, Stream* stream);
abi::CUresult query(Context* context, Stream* stream);

// Queues functional work that takes `nanoseconds` of the device timeline on a stream.
void enqueue(Stream* stream, double nanoseconds, std::function<void()> run);

}  // namespace gvb::sim

#define GVB_SIM_ENTER_CONTEXT(name)     \
  GVB_SIM_ENTER(name);                  \
  gvb::sim::Context* context = nullptr; \
  if (const int bad = gvb::sim::currentContext(&context)) return bad

#define GVB_SIM_ENTER_STREAM(name, streamHandle) \
  GVB_SIM_ENTER_CONTEXT(name);                   \
  gvb::sim::Stream* stream = nullptr;            \
  if (const int wrong = gvb::sim::streamOf(context, streamHandle, &stream)) return wrong
