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

// The cards in the order in which the driver numbers them; of a split one its first instance.
std::vector<int> numbered(const char* order, const Settings& settings) {
  std::vector<int64_t> cards(static_cast<size_t>(settings.devices));
  std::iota(cards.begin(), cards.end(), 0);
  if (order == nullptr || std::strcmp(order, "PCI_BUS_ID") != 0)
    std::stable_sort(cards.begin(), cards.end(),
                     [&](int64_t a, int64_t b) { return settings.cards[a].sms > settings.cards[b].sms; });
  std::vector<int> places(cards.size());
  std::transform(cards.begin(), cards.end(), places.begin(), [&](int64_t card) { return first_place(settings, card); });
  return places;
}

// -1: none has that name.
int device_named(const std::string& name, const std::vector<int>& numbered, const Settings& settings) {
  if (name.compare(0, 4, "GPU-") == 0 || name.compare(0, 4, "MIG-") == 0) {
    for (int place = 0; place < settings.places; ++place)
      if (card_uuid_text(place).compare(0, name.size(), name) == 0)
        return place < settings.devices ? first_place(settings, place) : place;
    return -1;
  }
  char* end = nullptr;
  const long index = std::strtol(name.c_str(), &end, 10);
  return name.empty() || *end != '\0' || index < 0 || static_cast<size_t>(index) >= numbered.size()
             ? -1
             : numbered[static_cast<size_t>(index)];
}

bool contains(const std::vector<int>& devices, int device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

// Up to the first entry that names no device, or one again.
std::vector<int> listed(const std::string& text, const std::vector<int>& numbered, const Settings& settings) {
  std::vector<int> devices;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const int device = device_named(text.substr(from, to - from), numbered, settings);
    if (device < 0 || contains(devices, device)) break;
    devices.push_back(device);
    from = to + 1;
  }
  return devices;
}

}  // namespace

std::vector<int> visible_devices(const DeviceVariables& variables, const Settings& settings) {
  const std::vector<int> all = numbered(variables.order, settings);
  const std::vector<int> served = variables.served ? listed(*variables.served, all, settings) : all;
  if (variables.visible == nullptr) return served;
  std::vector<int> visible = listed(variables.visible, served, settings);
  if (variables.served)
    visible.erase(std::find_if(visible.begin(), visible.end(), [&](int device) { return !contains(served, device); }),
                  visible.end());
  return visible;
}

}  // namespace gvb::sim
