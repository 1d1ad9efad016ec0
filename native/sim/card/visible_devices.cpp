#include "sim/card/visible_devices.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "sim/card/facts.h"

namespace gvb::sim {
namespace {

int first_place(const Settings& settings, int64_t card) {
  const CardSettings& whole = settings.cards[card];
  return static_cast<int>(whole.instances > 0 ? whole.first_instance : card);
}

int device_named(const std::string& name, const Settings& settings) {
  if (name.compare(0, 4, "GPU-") == 0 || name.compare(0, 4, "MIG-") == 0) {
    for (int place = 0; place < settings.places; ++place)
      if (card_uuid_text(place).compare(0, name.size(), name) == 0)
        return place < settings.devices ? first_place(settings, place) : place;
    return -1;
  }
  char* end = nullptr;
  const long index = std::strtol(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || index < 0 || index >= settings.devices ? -1 : first_place(settings, index);
}

}  // namespace

std::vector<int> visible_devices(const char* list, const Settings& settings) {
  std::vector<int> visible;
  if (list == nullptr) {
    for (int64_t card = 0; card < settings.devices; ++card) visible.push_back(first_place(settings, card));
    return visible;
  }
  const std::string text = list;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const int device = device_named(text.substr(from, to - from), settings);
    if (device < 0 || std::find(visible.begin(), visible.end(), device) != visible.end()) break;
    visible.push_back(device);
    from = to + 1;
  }
  return visible;
}

}  // namespace gvb::sim
