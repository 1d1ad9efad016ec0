// Keeps the measuring thread on one processor for as long as it lives. What disturbs a host sits on single processors
// (a busy hyper-thread, an interrupt) and stays for longer than a measurement: a block on each of many finds what most
// of them are like, where one that stays anywhere finds what that place is like.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>

namespace gvb {

class OnCore {
 public:
  // The `turn`-th, counted around, of those that this thread may use.
  explicit OnCore(uint64_t turn);
  ~OnCore();
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

  // nullopt where the system does not let a thread choose.
  std::optional<int> number() const { return number_; }

 private:
  cpu_set_t before_;
  std::optional<int> number_;
};

}  // namespace gvb
