// Asks a thread to end while it waits for a point in time.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace gvb {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void stop();  // from any thread
  bool stopped();
  // Returns at time `at` of now_ns(), or earlier if stopped. True if it was stopped.
  bool wait_until(int64_t at);

 private:
  pthread_mutex_t mutex_;
  pthread_cond_t changed_;
  bool stopped_ = false;
};

}  // namespace gvb
