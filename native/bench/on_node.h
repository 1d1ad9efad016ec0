// Keeps the measuring thread on the processors of the device's NUMA node for as long as it lives: memory that it
// touches first is then of that node, and copies do not cross to another socket.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

#include "bench/device_session.h"

namespace gvb {

// The processors of a list as the kernel writes it ("0-3,8"); nullopt where it is none.
std::optional<cpu_set_t> processors_of(const std::string& list);

class OnNode {
 public:
  explicit OnNode(const DeviceSession& session);
  ~OnNode();
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;

  // nullopt where the driver does not name a node (CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), or this thread may use none of
  // its processors: it then stays where it is.
  std::optional<int> number() const { return number_; }

 private:
  cpu_set_t before_;
  std::optional<int> number_;
};

}  // namespace gvb
