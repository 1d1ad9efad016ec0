// Asks a thread to end while it waits for a time.
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
  // Returns at that moment of now_ns(), or as soon as it is stopped; whether it is.
  bool wait_until(int64_t at);

 private:
  pthread_mutex_t mutex_;
  pthread_cond_t changed_;
  bool stopped_ = false;
};

}  // namespace gvb
