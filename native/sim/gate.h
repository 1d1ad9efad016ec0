// Where driver calls of a process wait while a checkpoint controller has locked it.
#pragma once

#include <atomic>

#include "sim/card/checkpointing.h"

namespace gvb::sim {

// A call of the program, from its entry to its return. A call within a call has passed already: were it to wait, the
// lock would wait for the outer one for ever.
class GateEntry {
 public:
  GateEntry() {
    if (depth_++ == 0) enter(own_.load(std::memory_order_relaxed));
  }
  ~GateEntry() {
    if (--depth_ == 0) own_.load(std::memory_order_relaxed)->inside.fetch_sub(1);
  }
  GateEntry(const GateEntry&) = delete;
  GateEntry& operator=(const GateEntry&) = delete;

  // Called when the driver is ready, before any other call.
  static void open_for(Checkpointing* own) { own_.store(own); }
  // Called when the process ends: another one may then have its place, and threads may still leave.
  static void abandon();

 private:
  static void enter(Checkpointing* own) {
    own->inside.fetch_add(1);
    if (__builtin_expect(own->closed.load() != 0, 0)) wait(own);
  }
  static void wait(Checkpointing* own);

  static inline std::atomic<Checkpointing*> own_{nullptr};
  // In a statically linked program a library finds only the initial thread-local block.
  [[gnu::tls_model("initial-exec")]] static inline thread_local int depth_ = 0;
};

}  // namespace gvb::sim
