#include "interpose/polling.h"

#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/thread.h"
#include "base/wait.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kPeriodNs = kSecondNs / 10;

int64_t processor_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * kSecondNs + t.tv_nsec;
}

// Makes up in the next period for time that a busy machine denied it.
[[noreturn]] void poll(double share) {
  prctl(PR_SET_NAME, "gvb-poll");
  const int64_t budget = std::llround(kPeriodNs * share);
  const int64_t started = now_ns();
  for (int64_t period = 1;; ++period) {
    record::Call burst{};
    burst.entered = now_ns();
    burst.begins = processor_time();
    while (processor_time() < period * budget) {
    }
    burst.ends = processor_time();
    burst.function = kCudaFunctionCount;
    if (call_log()) call_log()->add(burst);
    sleep_until(started + period * kPeriodNs);
  }
}

}  // namespace

void start_polling(double share) {
  if (start_thread(Processors::kCallers, [share] { poll(share); })) return;
  std::fprintf(stderr, "gpu-virt-bench interposer: the polling thread could not be started.\n");
  _exit(2);
}

}  // namespace gvb::interpose
