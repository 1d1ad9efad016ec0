#include "interpose/compute_limit.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "driver/clock.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

// How far the device may run ahead of the limit after the host was late.
constexpr int64_t kCatchUpNs = 50'000'000;

// When the next launch may be made. A sleep ends late (50 us and more), and so does waiting for a kernel on a busy
// machine: that much less is waited for the next time, or the device would get less than its share.
class Schedule {
 public:
  void charge(int64_t called, double busy_ns) {
    // What the tenant idles by itself is not made up for.
    due_ = std::max(due_ + (called - released_), called - kCatchUpNs);
    due_ += std::llround(busy_ns * 100 / settings().sm_percent);
  }
  void hold() {
    for (int64_t left; (left = due_ - now_ns()) > 0;) {
      const timespec duration{left / 1'000'000'000, left % 1'000'000'000};
      nanosleep(&duration, nullptr);
    }
    released_ = now_ns();
  }

 private:
  int64_t due_ = 0;
  int64_t released_ = 0;
};

struct Compute {
  std::mutex mutex;
  Schedule schedule;
};

Compute& compute() {
  static Compute& instance = *new Compute;
  return instance;
}

// The two ends of a launch, in the context that is current.
class Interval {
 public:
  Interval() {
    code_ = driver().cuEventCreate(&from_, abi::CU_EVENT_DEFAULT);
    if (code_ == CUDA_SUCCESS) code_ = driver().cuEventCreate(&to_, abi::CU_EVENT_DEFAULT);
  }
  ~Interval() {
    if (from_) driver().cuEventDestroy_v2(from_);
    if (to_) driver().cuEventDestroy_v2(to_);
  }
  Interval(const Interval&) = delete;
  Interval& operator=(const Interval&) = delete;

  // Launches and waits. The time of a launch that failed is 0.
  template <class Launch>
  CUresult time(abi::CUstream stream, const Launch& launch) {
    const auto next = [&](auto call) {
      if (code_ == CUDA_SUCCESS) code_ = call();
    };
    next([&] { return driver().cuEventRecord(from_, stream); });
    next(launch);
    next([&] { return driver().cuEventRecord(to_, stream); });
    next([&] { return driver().cuEventSynchronize(to_); });
    next([&] { return driver().cuEventElapsedTime(&milliseconds_, from_, to_); });
    return code_;
  }
  double busy_ns() const { return milliseconds_ * 1e6; }

 private:
  CUresult code_;
  abi::CUevent from_ = nullptr;
  abi::CUevent to_ = nullptr;
  float milliseconds_ = 0;
};

template <class Launch>
CUresult limited(abi::CUstream stream, const Launch& launch) {
  const std::lock_guard<std::mutex> lock(compute().mutex);
  const int64_t called = now_ns();
  Interval interval;
  const CUresult code = interval.time(stream, launch);
  if (code != CUDA_SUCCESS) return code;
  compute().schedule.charge(called, interval.busy_ns());
  compute().schedule.hold();
  return code;
}

}  // namespace

CUresult limited_launch(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, abi::CUstream stream, void** parameters, void** extra) {
  return limited(stream, [&] {
    return driver().cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  });
}

CUresult limited_launch_ex(const abi::CUlaunchConfig* config, abi::CUfunction kernel, void** parameters, void** extra) {
  return limited(config ? config->hStream : nullptr,
                 [&] { return driver().cuLaunchKernelEx(config, kernel, parameters, extra); });
}

}  // namespace gvb::interpose
