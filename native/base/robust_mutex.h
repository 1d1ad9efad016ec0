// Mutexes in memory that processes share: the kernel releases those of a thread that died.
#pragma once

#include <pthread.h>

namespace gvb {

// For memory that no other process uses yet.
void make_robust(pthread_mutex_t* mutex);

// Whether the one who had it before died with it: what it guards may then be half changed.
bool lock_robust(pthread_mutex_t* mutex);

// The same for what only a kernel would lock: a process that is stopped (SIGSTOP) inside goes on until it has left, as
// in a kernel it would.
bool lock_as_kernel(pthread_mutex_t* mutex);

class RobustLock {
 public:
  explicit RobustLock(pthread_mutex_t* mutex) : mutex_(mutex), owner_died_(lock_as_kernel(mutex)) {}
  ~RobustLock() { pthread_mutex_unlock(mutex_); }
  RobustLock(const RobustLock&) = delete;
  RobustLock& operator=(const RobustLock&) = delete;
  bool owner_died() const { return owner_died_; }

 private:
  pthread_mutex_t* const mutex_;
  const bool owner_died_;
};

}  // namespace gvb
