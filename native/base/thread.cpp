#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

namespace gvb {

namespace {

// Widens the creator's affinity for a moment, because a thread inherits it; the thread attribute for it needs a newer
// glibc than the oldest supported.
class WidenedAffinity {
 public:
  WidenedAffinity() {
    cpu_set_t all;
    widened_ = sched_getaffinity(0, sizeof own_, &own_) == 0 && sched_getaffinity(getpid(), sizeof all, &all) == 0 &&
               sched_setaffinity(0, sizeof all, &all) == 0;
  }
  ~WidenedAffinity() {
    if (widened_) sched_setaffinity(0, sizeof own_, &own_);
  }
  WidenedAffinity(const WidenedAffinity&) = delete;
  WidenedAffinity& operator=(const WidenedAffinity&) = delete;

 private:
  cpu_set_t own_{};
  bool widened_ = false;
};

void* run(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

// Blocks signals in the creator meanwhile, because a thread inherits its creator's mask.
bool start_with_blocked_signals(void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

bool start_thread(Processors processors, std::function<void()> body) {
  std::optional<WidenedAffinity> widened;
  if (processors == Processors::kProcesses) widened.emplace();
  auto argument = std::make_unique<std::function<void()>>(std::move(body));
  if (!start_with_blocked_signals(argument.get())) return false;
  static_cast<void>(argument.release());  // the new thread owns it
  return true;
}

void leave_processor(int processor) {
  cpu_set_t others;
  if (processor < 0 || sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(static_cast<size_t>(processor), &others);
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

}  // namespace gvb
