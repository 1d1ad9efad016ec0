#include "sim/card/sharing.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace gvb::sim {
namespace {

constexpr double kNothing = 1e-12;

// What is left of one capacity: of the card, or, if `client` is set, of that client's multiprocessors.
struct Capacity {
  Resource resource;
  int client;  // -1: the card's
  double left;

  double use(const Sharer& sharer) const {
    return client < 0 || client == sharer.client ? (*sharer.demand)[resource] : 0;
  }
};

std::vector<Capacity> capacities(const Sharer* sharers, size_t count) {
  std::vector<Capacity> all;
  for (size_t resource = 0; resource < kResources; ++resource) all.push_back({static_cast<Resource>(resource), -1, 1});
  for (size_t i = 0; i < count; ++i) {
    const Sharer& sharer = sharers[i];
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Capacity& c) { return c.client == sharer.client; });
    if (sharer.sm_limit < 1 && !known) all.push_back({kSms, sharer.client, sharer.sm_limit});
  }
  return all;
}

double dominant(const Sharer& sharer) { return *std::max_element(sharer.demand->begin(), sharer.demand->end()); }

// How far the common speed may rise until a capacity is used up or a sharer runs at full speed.
double rise(const std::vector<Capacity>& capacities, const std::vector<Sharer*>& rising) {
  double most = std::numeric_limits<double>::infinity();
  for (const Sharer* sharer : rising) most = std::min(most, (sharer->most - sharer->speed) * dominant(*sharer));
  for (const Capacity& capacity : capacities) {
    double per_level = 0;
    for (const Sharer* sharer : rising) per_level += capacity.use(*sharer) / dominant(*sharer);
    if (per_level > 0) most = std::min(most, capacity.left / per_level);
  }
  return most;
}

}  // namespace

void share(Sharer* sharers, size_t count) {
  if (count == 1) {  // same result as the loop below, for a card with a single tenant
    const double sms = (*sharers->demand)[kSms];
    sharers->speed = std::min(sharers->most, sms > sharers->sm_limit ? sharers->sm_limit / sms : 1);
    return;
  }
  std::vector<Sharer*> rising;
  for (size_t i = 0; i < count; ++i) {
    sharers[i].speed = dominant(sharers[i]) > 0 ? 0 : sharers[i].most;
    if (sharers[i].speed == 0) rising.push_back(&sharers[i]);
  }
  std::vector<Capacity> all = capacities(sharers, count);
  while (!rising.empty()) {
    const double level = rise(all, rising);
    for (Sharer* sharer : rising) {
      const double faster = level / dominant(*sharer);
      sharer->speed = std::min(sharer->most, sharer->speed + faster);
      for (Capacity& capacity : all) capacity.left -= faster * capacity.use(*sharer);
    }
    const auto stays = [&](const Sharer* sharer) {
      return sharer->speed > sharer->most - kNothing ||
             std::any_of(all.begin(), all.end(), [&](const Capacity& capacity) {
               return capacity.left < kNothing && capacity.use(*sharer) > 0;
             });
    };
    rising.erase(std::remove_if(rising.begin(), rising.end(), stays), rising.end());
  }
}

}  // namespace gvb::sim
