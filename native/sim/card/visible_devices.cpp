#include "sim/card/visible_devices.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "sim/card/facts.h"

namespace gvb::sim {
namespace {

int first_place(const Settings& settings, int64_t card) {
  const CardSettings& whole = settings.cards[card];
  return static_cast<int>(whole.instances > 0 ? whole.first_instance : card);
}

// The cards in the order in which the driver numbers them.
std::vector<int64_t> numbered(const char* order, const Settings& settings) {
  std::vector<int64_t> cards(static_cast<size_t>(settings.devices));
  std::iota(cards.begin(), cards.end(), 0);
  if (order == nullptr || std::strcmp(order, "PCI_BUS_ID") != 0)
    std::stable_sort(cards.begin(), cards.end(),
                     [&](int64_t a, int64_t b) { return settings.cards[a].sms > settings.cards[b].sms; });
  return cards;
}

int device_named(const std::string& name, const std::vector<int64_t>& cards, const Settings& settings) {
  if (name.compare(0, 4, "GPU-") == 0 || name.compare(0, 4, "MIG-") == 0) {
    for (int place = 0; place < settings.places; ++place)
      if (card_uuid_text(place).compare(0, name.size(), name) == 0)
        return place < settings.devices ? first_place(settings, place) : place;
    return -1;
  }
  char* end = nullptr;
  const long index = std::strtol(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || index < 0 || index >= settings.devices
             ? -1
             : first_place(settings, cards[static_cast<size_t>(index)]);
}

}  // namespace

std::vector<int> visible_devices(const DeviceVariables& variables, const Settings& settings) {
  const std::vector<int64_t> cards = numbered(variables.order, settings);
  std::vector<int> visible;
  if (variables.visible == nullptr) {
    for (const int64_t card : cards) visible.push_back(first_place(settings, card));
    return visible;
  }
  const std::string text = variables.visible;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const int device = device_named(text.substr(from, to - from), cards, settings);
    if (device < 0 || std::find(visible.begin(), visible.end(), device) != visible.end()) break;
    visible.push_back(device);
    from = to + 1;
  }
  return visible;
}

}  // namespace gvb::sim
