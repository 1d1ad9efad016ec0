#include "sim/visible_devices.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "sim/card.h"

namespace gvb::sim {
namespace {

int deviceNamed(const std::string& name, int devices) {
  if (name.compare(0, 4, "GPU-") == 0) {
    for (int i = 0; i < devices; ++i)
      if (cardUuidText(i).compare(0, name.size(), name) == 0) return i;
    return -1;
  }
  char* end = nullptr;
  const long index = std::strtol(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || index < 0 || index >= devices ? -1 : static_cast<int>(index);
}

}  // namespace

std::vector<int> visibleDevices(const char* list, int devices) {
  std::vector<int> visible;
  if (list == nullptr) {
    for (int i = 0; i < devices; ++i) visible.push_back(i);
    return visible;
  }
  const std::string text = list;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const int device = deviceNamed(text.substr(from, to - from), devices);
    if (device < 0 || std::find(visible.begin(), visible.end(), device) != visible.end()) break;
    visible.push_back(device);
    from = to + 1;
  }
  return visible;
}

}  // namespace gvb::sim
