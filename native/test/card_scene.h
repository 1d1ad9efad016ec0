// A simulated card's timeline and the work on it. Times are ns from 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "check.h"
#include "sim/card/timeline.h"

namespace test {

using namespace gvb::sim;

constexpr int64_t kSlice = 20;

// A card and the work submitted to it.
class Scene {
 public:
  Scene() : timeline_(static_cast<Timeline*>(std::calloc(1, sizeof(Timeline)))) {
    initialise(timeline_.get());
    timeline_->slice_ns = kSlice;
  }

  Timeline* card() { return timeline_.get(); }

  int client(bool joined = false, double sm_limit = 1) { return open_client(card(), 7, joined, sm_limit); }
  int lane(int client) { return open_lane(card(), client); }
  int alone(bool joined = false, double sm_limit = 1) { return lane(client(joined, sm_limit)); }

  LanePoint put(int lane, int64_t at, double alone_ns, const Demand& demand, Fault fault = {}) {
    Item item;
    item.not_before = at;
    item.alone_ns = alone_ns;
    item.demand = demand;
    item.fault = fault;
    return submit(card(), lane, item);
  }

  LanePoint put(int lane, ItemKind kind, int64_t at = 0, LanePoint after = {}) {
    Item item;
    item.kind = kind;
    item.not_before = at;
    item.after = after;
    item.demand = demand_of(kSms);
    return submit(card(), lane, item);
  }

  int64_t end(const LanePoint& point) {
    CHECK(advance(card(), kForever, &point, 1));
    return item(point).end;
  }

  // A kernel of blocks that take so much of a multiprocessor's threads; the card has 4 multiprocessors.
  LanePoint put(int lane, int64_t at, double alone_ns, double blocks, double threads, int priority = 0) {
    Item item;
    item.not_before = at;
    item.alone_ns = alone_ns;
    item.demand = demand_of(kSms, std::min(1.0, blocks * threads / 4));
    item.blocks = {blocks, std::floor(1 / threads), 4, {threads}};
    item.priority = priority;
    return submit(card(), lane, item);
  }

  // Reads a set again and again, a byte a ns where it is cached; what is not takes three times as long.
  LanePoint read(int lane, int64_t at, uint64_t address, double set_bytes, double touched, double a_ns = 1) {
    Item item;
    item.not_before = at;
    item.alone_ns = touched / a_ns;
    item.demand = demand_of(kSms, 0.1);
    item.set = {address, set_bytes, touched, 3, 0, 0};
    return submit(card(), lane, item);
  }

  double missed(const LanePoint& point) { return item(point).missed; }
  int64_t start(const LanePoint& point) { return item(point).start; }
  std::pair<int64_t, int64_t> pause(const LanePoint& point) { return {item(point).pause_from, item(point).pause_to}; }

 private:
  const Item& item(const LanePoint& point) { return card()->items[point.lane][(point.items - 1) % kLaneItems]; }

  struct Free {
    void operator()(Timeline* timeline) const { std::free(timeline); }
  };
  std::unique_ptr<Timeline, Free> timeline_;
};

}  // namespace test
