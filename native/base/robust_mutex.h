// Mutexes in shared memory; the kernel releases those of a thread that died.
#pragma once

#include <pthread.h>

namespace gvb {

// Only for memory that no other process uses yet.
void make_robust(pthread_mutex_t* mutex);

// Returns whether the previous owner died while it held the mutex: the guarded state may then be half changed.
bool lock_robust(pthread_mutex_t* mutex);

// Like lock_robust, for a mutex that stands for a lock inside the kernel: a process stopped (SIGSTOP) while it holds
// the mutex is continued until it releases it, since a stop signal cannot stop a process inside the kernel.
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
