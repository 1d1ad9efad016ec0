#include "base/robust_mutex.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace gvb {

namespace {

constexpr long kRetryNs = 10'000'000;

#ifdef __SANITIZE_THREAD__

// The thread sanitizer does not know that a timed lock which returns EOWNERDEAD holds the mutex.
int wait_for(pthread_mutex_t* mutex) {
  constexpr long kLookEveryNs = 500'000;
  for (long waited = 0; waited < kRetryNs; waited += kLookEveryNs) {
    const timespec pause{0, kLookEveryNs};
    nanosleep(&pause, nullptr);
    const int code = pthread_mutex_trylock(mutex);
    if (code != EBUSY) return code;
  }
  return ETIMEDOUT;
}

#else

int wait_for(pthread_mutex_t* mutex) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kRetryNs;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  return pthread_mutex_timedlock(mutex, &until);
}

#endif

// Returns ETIMEDOUT after kRetryNs.
int lock_for_a_while(pthread_mutex_t* mutex) {
  const int at_once = pthread_mutex_trylock(mutex);
  return at_once == EBUSY ? wait_for(mutex) : at_once;
}

// Retries on a timeout: a waiter that is killed after it was woken takes the wake-up with it, and if another thread
// holds the mutex by then, no further wake-up follows. Calls `late` on every timeout.
template <class Late>
bool lock(pthread_mutex_t* mutex, const Late& late) {
  int code = 0;
  while ((code = lock_for_a_while(mutex)) == ETIMEDOUT) late();
  if (code != EOWNERDEAD) return false;
  pthread_mutex_consistent(mutex);
  return true;
}

// The owner's thread id, from the futex word at the start of the mutex, which the kernel reads too. 0: no owner.
int owner_of(const pthread_mutex_t* mutex) {
  int word = 0;
  std::memcpy(&word, mutex, sizeof word);
  return word & FUTEX_TID_MASK;
}

bool is_stopped(int thread) {
  char text[512];
  std::snprintf(text, sizeof text, "/proc/%d/stat", thread);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  // The command name is in parentheses and may contain any character.
  const char* state = std::strrchr(text, ')');
  return state != nullptr && state[1] == ' ' && state[2] == 'T';
}

void signal(int thread, int number) { syscall(SYS_tkill, thread, number); }

}  // namespace

void make_robust(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// If the caller dies before it has repaired the guarded state, the next one to lock receives EOWNERDEAD again.
bool lock_robust(pthread_mutex_t* mutex) {
  return lock(mutex, [] {});
}

bool lock_as_kernel(pthread_mutex_t* mutex) {
  int continued = 0;
  const bool died = lock(mutex, [&] {
    const int owner = owner_of(mutex);
    if (owner == 0 || !is_stopped(owner)) return;
    continued = owner;
    signal(owner, SIGCONT);
  });
  if (continued != 0) signal(continued, SIGSTOP);
  return died;
}

}  // namespace gvb
