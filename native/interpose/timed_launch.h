// A launch timed on the device by two events.
#pragma once

#include "interpose/interposer.h"

namespace gvb::interpose {

// Uses the current context.
class TimedLaunch {
 public:
  TimedLaunch() {
    code_ = driver().cuEventCreate(&from_, abi::CU_EVENT_DEFAULT);
    if (code_ == abi::CUDA_SUCCESS) code_ = driver().cuEventCreate(&to_, abi::CU_EVENT_DEFAULT);
  }
  ~TimedLaunch() {
    if (from_) driver().cuEventDestroy_v2(from_);
    if (to_) driver().cuEventDestroy_v2(to_);
  }
  TimedLaunch(const TimedLaunch&) = delete;
  TimedLaunch& operator=(const TimedLaunch&) = delete;

  // Launches and waits. The time of a failed launch is 0.
  template <class Launch>
  abi::CUresult time(abi::CUstream stream, const Launch& launch) {
    const auto next = [&](auto call) {
      if (code_ == abi::CUDA_SUCCESS) code_ = call();
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
  abi::CUresult code_;
  abi::CUevent from_ = nullptr;
  abi::CUevent to_ = nullptr;
  float milliseconds_ = 0;
};

}  // namespace gvb::interpose
