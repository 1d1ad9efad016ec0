#include "sim/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace gvb::sim {

bool startThread(void* (*body)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // A thread begins with what its creator may use; the attribute for it needs a newer glibc than the oldest supported.
  cpu_set_t processors, own;
  const bool widened = sched_getaffinity(0, sizeof own, &own) == 0 &&
                       sched_getaffinity(getpid(), sizeof processors, &processors) == 0 &&
                       sched_setaffinity(0, sizeof processors, &processors) == 0;
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (widened) sched_setaffinity(0, sizeof own, &own);
  pthread_attr_destroy(&attributes);
  return started;
}

void leaveProcessor(int processor) {
  cpu_set_t others;
  if (processor < 0 || sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

}  // namespace gvb::sim
