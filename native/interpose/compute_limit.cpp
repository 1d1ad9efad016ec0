#include "interpose/compute_limit.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/wait.h"
#include "interpose/timed_launch.h"

namespace gvb::interpose {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

// How far the device may run ahead of the limit after the host was late.
constexpr int64_t kCatchUpNs = 50'000'000;

// When the next launch may be made. A sleep ends late (50 us and more), and so does waiting for a kernel on a busy
// machine; the next wait is shortened by that time, or the device would get less than its share.
class Schedule {
 public:
  struct BusyTime {
    double ns;
  };
  void charge(int64_t called, BusyTime busy) {
    // Idle time of the tenant is not made up for.
    due_ = std::max(due_ + (called - released_), called - kCatchUpNs);
    due_ += std::llround(busy.ns * 100 / settings().sm_percent);
  }
  void hold() {
    sleep_until(due_);
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

template <class Launch>
CUresult limited(abi::CUstream stream, const Launch& launch) {
  const std::lock_guard<std::mutex> lock(compute().mutex);
  const int64_t called = now_ns();
  TimedLaunch timed;
  const CUresult code = timed.time(stream, launch);
  if (code != CUDA_SUCCESS) return code;
  compute().schedule.charge(called, {timed.busy_ns()});
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
