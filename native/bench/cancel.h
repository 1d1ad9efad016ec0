// A measurement checks its token between samples and leaves by an exception, so that its guards clean up.
#pragma once

#include <atomic>

#include "driver/error.h"

namespace gvb {

class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  void check() const {
    if (cancelled_.load(std::memory_order_relaxed)) throw Failure(FailureKind::kAborted, "aborted");
  }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace gvb
