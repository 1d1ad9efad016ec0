#include "base/stop_signal.h"

#include <time.h>

#include "base/clock.h"

namespace gvb {

namespace {

class Held {
 public:
  explicit Held(pthread_mutex_t* mutex) : mutex_(mutex) { pthread_mutex_lock(mutex_); }
  ~Held() { pthread_mutex_unlock(mutex_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  pthread_mutex_t* mutex_;
};

timespec later_by(int64_t nanoseconds) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const int64_t sum = time.tv_nsec + nanoseconds;
  return {time.tv_sec + static_cast<time_t>(sum / 1'000'000'000), static_cast<long>(sum % 1'000'000'000)};
}

}  // namespace

// Not std::condition_variable: with the steady clock it needs a newer glibc than the oldest supported, and with the
// system clock a wait would grow if that clock were set back.
StopSignal::StopSignal() {
  pthread_mutex_init(&mutex_, nullptr);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &attributes);
  pthread_condattr_destroy(&attributes);
}

StopSignal::~StopSignal() {
  pthread_cond_destroy(&changed_);
  pthread_mutex_destroy(&mutex_);
}

void StopSignal::stop() {
  const Held lock(&mutex_);
  stopped_ = true;
  pthread_cond_broadcast(&changed_);
}

bool StopSignal::stopped() {
  const Held lock(&mutex_);
  return stopped_;
}

bool StopSignal::wait_until(int64_t at) {
  const Held lock(&mutex_);
  // The two clocks run at slightly different rates, so the remaining time is recomputed after each wait.
  for (int64_t left; !stopped_ && (left = at - now_ns()) > 0;) {
    const timespec until = later_by(left);
    pthread_cond_timedwait(&changed_, &mutex_, &until);
  }
  return stopped_;
}

}  // namespace gvb
