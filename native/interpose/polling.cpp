#include "interpose/polling.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <thread>

#include "driver/clock.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kPeriodNs = kSecondNs / 10;

int64_t read(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * kSecondNs + t.tv_nsec;
}

void sleep_until(int64_t at) {
  const timespec when{at / kSecondNs, at % kSecondNs};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {
  }
}

// What a busy machine denied it in one period it takes in the next.
[[noreturn]] void poll(double share) {
  prctl(PR_SET_NAME, "gvb-poll");
  const int64_t budget = std::llround(kPeriodNs * share);
  const int64_t started = read(CLOCK_MONOTONIC);
  for (int64_t period = 1;; ++period) {
    record::Call burst{};
    burst.entered = now_ns();
    burst.begins = read(CLOCK_THREAD_CPUTIME_ID);
    while (read(CLOCK_THREAD_CPUTIME_ID) < period * budget) {
    }
    burst.ends = read(CLOCK_THREAD_CPUTIME_ID);
    burst.function = kCudaFunctionCount;
    if (call_log()) call_log()->add(burst);
    sleep_until(started + period * kPeriodNs);
  }
}

}  // namespace

void start_polling(double share) {
  // The program's signals are the program's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(poll, share).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace gvb::interpose
