#include "bench/on_node.h"

#include <cstdlib>

#include "base/text.h"

namespace gvb {

std::optional<cpu_set_t> processors_of(const std::string& list) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const std::string& part : split(list, ',')) {
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    const bool is_range = end != part.c_str() && *end == '-';
    const char* const from = end + 1;
    const long last = is_range ? std::strtol(from, &end, 10) : first;
    const bool whole = end != (is_range ? from : part.c_str()) && *end == '\0';
    if (!whole || first < 0 || last < first || last >= CPU_SETSIZE) return std::nullopt;
    for (long processor = first; processor <= last; ++processor) CPU_SET(static_cast<size_t>(processor), &all);
  }
  return all;
}

OnNode::OnNode(const DeviceSession& session) {
  const auto node = device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
  if (!node || *node < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const auto list = first_line(("/sys/devices/system/node/node" + std::to_string(*node) + "/cpulist").c_str());
  const auto processors = list ? processors_of(*list) : std::nullopt;
  if (!processors) return;
  cpu_set_t usable;
  CPU_AND(&usable, &before_, &*processors);
  if (CPU_COUNT(&usable) > 0 && sched_setaffinity(0, sizeof usable, &usable) == 0) number_ = *node;
}

OnNode::~OnNode() {
  if (number_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace gvb
