// Keeps the measuring thread on one processor while it lives. Disturbances of a host sit on single processors (a busy
// hyper-thread, an interrupt) and last longer than a measurement. Blocks on many processors show the typical one; a
// block on a single processor would show only that one's state.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>

namespace gvb {

class OnCore {
 public:
  // Uses the `turn`-th processor (modulo their number) that this thread may use.
  explicit OnCore(uint64_t turn);
  ~OnCore();
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

  // nullopt if the system does not let a thread choose.
  std::optional<int> number() const { return number_; }

 private:
  cpu_set_t before_;
  std::optional<int> number_;
};

}  // namespace gvb
