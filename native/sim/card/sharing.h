// How work that runs at the same time shares a card: dominant resource fairness (Ghodsi et al., NSDI 2011), which for
// one resource is max-min fairness. The speeds of all rise together until something is used up; work that needs it
// stays at that speed, the others keep rising, and none runs faster than alone.
#pragma once

#include <array>
#include <cstddef>

namespace gvb::sim {

enum Resource : size_t { kSms, kL2, kDram, kCopyIn, kCopyOut, kCopyEngine, kLinkIn, kLinkOut, kResources };

// The part of each of the card's capacities that work uses at full speed: 0 to 1.
using Demand = std::array<double, kResources>;

constexpr Demand demand_of(Resource resource, double part = 1) {
  Demand demand{};
  demand[resource] = part;
  return demand;
}

struct Sharer {
  const Demand* demand;
  int client;       // sharers of one client share its limit
  double sm_limit;  // the part of the multiprocessors that the client may use at a time
  double speed;     // the result: of what it would be alone, 0 to 1
};

void share(Sharer* sharers, size_t count);

}  // namespace gvb::sim
