// How concurrent work shares a card: dominant resource fairness (Ghodsi et al., NSDI 2011), which for one resource is
// max-min fairness. All speeds rise together until a resource is used up; work that needs it stays at that speed and
// the others keep rising. Nothing runs faster than alone.
#pragma once

#include <array>
#include <cstddef>

namespace gvb::sim {

enum Resource : size_t { kSms, kL2, kDram, kCopyIn, kCopyOut, kCopyEngine, kLinkIn, kLinkOut, kResources };

// The fraction of each of the card's capacities that work uses at full speed: 0 to 1.
using Demand = std::array<double, kResources>;

constexpr Demand demand_of(Resource resource, double part = 1) {
  Demand demand{};
  demand[resource] = part;
  return demand;
}

struct Sharer {
  const Demand* demand;
  int client;       // sharers of one client share its limit
  double sm_limit;  // the fraction of the multiprocessors that the client may use at a time
  double speed;     // result: relative to its speed alone, 0 to `most`
  double most;      // its own limit: work that waits for more than it would alone
};

void share(Sharer* sharers, size_t count);

}  // namespace gvb::sim
