#include "sim/card/card.h"

#include <algorithm>

#include "driver/cuda_abi.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"
#include "sim/recorded_call.h"

namespace gvb::sim {
namespace {

constexpr int64_t kReapEvery = 20'000'000;

bool all_reached(const CardState& state, const Points& points) {
  return std::all_of(points.begin(), points.end(), [&](const LanePoint& p) { return reached(state.timeline, p); });
}

bool in_real_time(const CardState& state) {
  return settings().real_time != 0 || state.timeline.contexts > 1 || state.timeline.open_items > 0;
}

}  // namespace

Card::Card(RegionState* region, int place, int participant)
    : region_(region), state_(&region->cards[place]), place_(place), participant_(participant) {}

// Records the turns that are over by then: whoever advances the card writes them into the record of its own process.
void Card::advance_to(int64_t until, const Points& points) {
  Timeline& timeline = state_->timeline;
  uint64_t turn = timeline.turns_over;
  advance(&timeline, until, points.data(), points.size());
  // Nobody looked for so long that the first of them are not known any more.
  if (timeline.turns_over > turn + kTurns) turn = timeline.turns_over - kTurns;
  for (; turn < timeline.turns_over; ++turn) {
    const Turn& over = timeline.turns[turn % kTurns];
    record_turn({place_, over.party, over.from, over.to});
  }
}

int Card::open_client(bool joined, double sm_limit) {
  int client = -1;
  int64_t computed = 0;
  {
    const RobustLock lock(&state_->mutex);
    client = sim::open_client(&state_->timeline, participant_, joined, sm_limit);
    if (client < 0) return -1;
    if (state_->timeline.contexts > 1) computed = state_->timeline.now;
    computed = std::max(computed, state_->timeline.recovered_at);
  }
  wait_until(computed);
  return client;
}

int Card::open_partition(int client, double sm_limit) {
  const RobustLock lock(&state_->mutex);
  return sim::open_partition(&state_->timeline, client, sm_limit);
}

void Card::close_client(int client) {
  const RobustLock lock(&state_->mutex);
  sim::close_client(&state_->timeline, client);
}

int Card::fault(int client) const {
  const int code = state_->timeline.clients[client].fault.load(std::memory_order_acquire);
  return code != 0 && state_->timeline.fault_ns > 0 && raw_now() < fault_told(client) ? 0 : code;
}

int64_t Card::fault_told(int client) const {
  const Client& of = state_->timeline.clients[client];
  return of.fault.load(std::memory_order_acquire) == 0 ? 0 : of.fault_told.load(std::memory_order_relaxed);
}

bool Card::party_failed() const {
  const RobustLock lock(&state_->mutex);
  const auto& clients = state_->timeline.clients;
  return std::any_of(std::begin(clients), std::end(clients), [](const Client& client) {
    const int code = client.fault.load();
    return client.participant >= 0 && client.party == kJoined && code != 0 &&
           code != abi::CUDA_ERROR_MPS_CLIENT_TERMINATED;
  });
}

int64_t Card::recovered_at() const {
  const RobustLock lock(&state_->mutex);
  return state_->timeline.recovered_at;
}

int Card::open_lane(int client) {
  const RobustLock lock(&state_->mutex);
  return sim::open_lane(&state_->timeline, client);
}

void Card::close_lane(int lane) {
  const RobustLock lock(&state_->mutex);
  sim::close_lane(&state_->timeline, lane);
}

bool Card::has_room(int lane, size_t count) const { return sim::has_room(state_->timeline.lanes[lane], count); }

LanePoint Card::submit(int lane, const Item* const* items, size_t count) {
  const RobustLock lock(&state_->mutex);
  LanePoint point;
  for (size_t i = 0; i < count; ++i) point = sim::submit(&state_->timeline, lane, *items[i]);
  advance_to(raw_now());
  return point;
}

void Card::end_open(int lane, int64_t end) {
  const RobustLock lock(&state_->mutex);
  sim::end_open(&state_->timeline, lane, end);
}

bool Card::is_over(const LanePoint& point) const { return reached(state_->timeline, point); }

bool Card::has_begun(const LanePoint& point) const {
  return state_->timeline.lanes[point.lane].started.load(std::memory_order_acquire) >= point.items;
}

const Item& Card::item(const LanePoint& point) const {
  return state_->timeline.item(state_->timeline.lanes[point.lane], point.items - 1);
}

Placement Card::placement(const LanePoint& point) const {
  const Item& found = item(point);
  Placement placement{found.start, found.end, found.pause_from, found.pause_to, {}, found.missed, found.beside};
  if (found.pause_to == 0) return placement;
  const RobustLock lock(&state_->mutex);
  placement.pauses = pauses_of(state_->timeline, state_->timeline.lanes[point.lane].client, {found.start, found.end});
  return placement;
}

int64_t Card::start_of(const LanePoint& point) const { return item(point).start; }

void Card::collected(const LanePoint& point) {
  state_->timeline.lanes[point.lane].collected.store(point.items, std::memory_order_release);
}

void Card::look() {
  const RobustLock lock(&state_->mutex);
  advance_to(raw_now());
}

// The shortest time until all points are reached, as far as it is known; 0 once they are reached.
int64_t Card::pass_time(const Points& points) {
  constexpr int64_t kUnknown = 20'000;
  const RobustLock lock(&state_->mutex);
  if (all_reached(*state_, points)) return 0;
  const bool real = in_real_time(*state_);
  advance_to(real ? raw_now() : kForever, points);
  if (all_reached(*state_, points)) return 0;
  int64_t least = 0;
  for (const LanePoint& point : points) least = std::max(least, shortest_ns(&state_->timeline, point));
  return least > 0 ? least : kUnknown;
}

bool Card::look_for(const Points& points) { return pass_time(points) == 0; }

void Card::wait_for(const Points& points) {
  int64_t reaped = raw_now();
  while (const int64_t least = pass_time(points)) {
    sleep_for(std::min(least, kReapEvery));
    if (raw_now() - reaped < kReapEvery) continue;
    const RobustLock lock(&region_->mutex);
    reap_dead(region_);  // a killed process must not hold the card forever
    reaped = raw_now();
  }
}

bool Card::busy() {
  const RobustLock lock(&state_->mutex);
  Timeline& timeline = state_->timeline;
  const int64_t now = raw_now();
  advance_to(now);
  return timeline.now > now || std::any_of(timeline.lanes, timeline.lanes + timeline.lanes_ever, [&](Lane& lane) {
           return lane.client >= 0 && lane.pending() && timeline.head(lane).not_before <= now;
         });
}

}  // namespace gvb::sim
