// Keeps the measuring thread on the processors of the device's NUMA node for as long as the object lives: memory that
// the thread touches first is then on that node, and copies do not cross to another socket.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

#include "bench/device_session.h"

namespace gvb {

// The processors of a list in the kernel's format ("0-3,8"); nullopt if the text has another format.
std::optional<cpu_set_t> processors_of(const std::string& list);

class OnNode {
 public:
  explicit OnNode(const DeviceSession& session);
  ~OnNode();
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;

  // nullopt if the driver does not name a node (CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), or if this thread may use none of
  // its processors: it then stays where it is.
  std::optional<int> number() const { return number_; }

 private:
  cpu_set_t before_;
  std::optional<int> number_;
};

}  // namespace gvb
