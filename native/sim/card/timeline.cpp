#include "sim/card/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace gvb::sim {
namespace {

constexpr double kOver = 1e-3;  // rounding error: finished work may have this much left, in ns

struct Running {
  Lane* lanes[kMaxLanes];
  Sharer sharers[kMaxLanes];
  Demand demands[kMaxLanes];
  CachedSet* sets[kMaxLanes];  // nullptr: it has none
  size_t count = 0;
  bool cached = false;  // one has a set
  double kept = 1;
};

bool running(const Lane& lane) { return lane.started.load(std::memory_order_relaxed) > lane.over(); }

// Does not rewrite the start of work that has begun: its owner may be reading it.
void finish(Timeline* timeline, Lane* lane, int64_t end) {
  Item& item = timeline->head(*lane);
  if (!running(*lane)) item.start = end;
  item.end = end;
  const uint64_t finished = lane->over() + 1;
  lane->started.store(finished, std::memory_order_release);
  lane->finished.store(finished, std::memory_order_release);
  if (item.fault.code != 0) fail(timeline, lane->client, item.fault);
}

// Passes items that take no time and are due; work after them may become due.
bool pass_instants(Timeline* timeline, Lane* lane) {
  bool passed = false;
  while (lane->pending()) {
    const Item& item = timeline->head(*lane);
    const bool due = item.not_before <= timeline->now;
    const bool over = item.kind == ItemKind::kStamp || (item.kind == ItemKind::kWait && reached(*timeline, item.after));
    if (!due || !over) break;
    finish(timeline, lane, timeline->now);
    passed = true;
  }
  return passed;
}

template <class Each>
void each_pending(Timeline* timeline, const Each& each) {
  for (int i = 0; i < timeline->lanes_ever; ++i) {
    Lane& lane = timeline->lanes[i];
    if (lane.client >= 0 && lane.pending()) each(lane);
  }
}

void pass_all_instants(Timeline* timeline) {
  for (bool again = true; again;) {
    again = false;
    each_pending(timeline, [&](Lane& lane) { again |= pass_instants(timeline, &lane) && lane.pending(); });
  }
}

bool can_run(Timeline* timeline, const Lane& lane) {
  const Item& item = timeline->head(lane);
  return (item.kind == ItemKind::kWork || item.kind == ItemKind::kOpen) && item.not_before <= timeline->now;
}

int party_of(const Timeline& timeline, const Lane& lane) { return timeline.clients[lane.client].party; }

// The parties with something to run: the next one after the current turn (in cyclic order), and whether the current
// party and others are among them.
struct Parties {
  bool any = false;
  bool own = false;
  bool others = false;
  int next = 0;
};

Parties parties(Timeline* timeline) {
  Parties found;
  int least = kMaxClients + 1;
  int following = kMaxClients + 1;
  each_pending(timeline, [&](Lane& lane) {
    if (!can_run(timeline, lane)) return;
    const int party = party_of(*timeline, lane);
    found.any = true;
    (party == timeline->turn ? found.own : found.others) = true;
    least = std::min(least, party);
    if (party > timeline->turn) following = std::min(following, party);
  });
  found.next = following <= kMaxClients ? following : least;
  return found;
}

bool turn_is_over(const Timeline& timeline) {
  if (timeline.turns_end == TurnsEnd::kAfterKernel) return timeline.kernel_over;
  return timeline.turns_end == TurnsEnd::kAfterSlice && timeline.now >= timeline.turn_ends;
}

void pass_turn(Timeline* timeline, int party) {
  timeline->turns[timeline->turns_over++ % kTurns] = {timeline->turn, timeline->runs_from, timeline->now};
  timeline->turn = party;
  timeline->turn_ends = kForever;
  timeline->kernel_over = false;
  timeline->runs_from = timeline->now + timeline->switch_ns;
}

// A party that runs alone keeps its turn; once another one waits, it ends a slice later.
void take_turns(Timeline* timeline) {
  const Parties found = parties(timeline);
  const bool over = turn_is_over(*timeline);
  if (!found.any) {
    // No other party waits, so the end of the turn is no event that the timeline steps to.
    if (over) timeline->turn_ends = kForever;
    return;
  }
  if (!found.own || (found.others && over)) {
    pass_turn(timeline, found.next);
    take_turns(timeline);
  } else if (!found.others) {
    timeline->turn_ends = kForever;
    timeline->kernel_over = false;
  } else if (timeline->turn_ends == kForever) {
    timeline->turn_ends = std::max(timeline->now, timeline->runs_from) + timeline->slice_ns;
    timeline->kernel_over = false;
  }
}

void start(Timeline* timeline, Lane* lane) {
  if (running(*lane)) return;
  Item& item = timeline->head(*lane);
  item.start = timeline->now;
  lane->left_ns = item.kind == ItemKind::kOpen ? std::numeric_limits<double>::infinity() : item.alone_ns;
  lane->ran_until = timeline->now;
  lane->started.store(lane->over() + 1, std::memory_order_release);
}

// What misses takes longer and needs the DRAM.
void look_into_cache(Timeline* timeline, Running* all, size_t i) {
  const WorkingSet& set = timeline->head(*all->lanes[i]).set;
  all->sets[i] = set.bytes > 0 ? cached_set(&timeline->cache, all->lanes[i]->client, set) : nullptr;
  if (all->sets[i] == nullptr) return;
  all->cached = true;
  const double misses = 1 - hit_part(timeline->cache, *all->sets[i]);
  all->demands[i][kDram] += misses * set.miss_dram;
  all->sharers[i].most = 1 / (1 + misses * (set.miss_slowness - 1));
}

// The part of the L2's rate that is used beside one of those that run.
double used_beside(const Running& all, size_t one) {
  double used = 0;
  for (size_t i = 0; i < all.count; ++i)
    if (i != one) used += all.sharers[i].speed * all.demands[i][kL2];
  return std::min(used, 1.0);
}

// Who touches much at a time does not wait for each touch: its `queue` is 0.
void queue_for_cache(Timeline* timeline, Running* all) {
  for (size_t i = 0; i < all->count; ++i) {
    const double queue = timeline->head(*all->lanes[i]).set.queue;
    if (queue > 0) all->sharers[i].speed = 1 / (1 / all->sharers[i].speed + queue * used_beside(*all, i));
  }
}

void run_beside(Timeline* timeline, Running* all, Lane* lane) {
  start(timeline, lane);
  const size_t i = all->count++;
  all->lanes[i] = lane;
  all->demands[i] = timeline->head(*lane).demand;
  all->sharers[i] = {&all->demands[i], lane->client, timeline->clients[lane->client].sm_limit, 0, 1};
  look_into_cache(timeline, all, i);
}

// What the running kernels of each client take.
class TakenSlots {
 public:
  explicit TakenSlots(Timeline* timeline) : timeline_(timeline) {}

  bool fits(const Running& all, const Lane& lane) {
    One& own = clients_.try_emplace(lane.client, timeline_->clients[lane.client].sm_limit).first->second;
    for (; own.seen < all.count; ++own.seen)
      if (all.lanes[own.seen]->client == lane.client) own.slots.take(timeline_->head(*all.lanes[own.seen]).blocks);
    return own.slots.fits(timeline_->head(lane).blocks);
  }

 private:
  struct One {
    explicit One(double sm_limit) : slots(sm_limit) {}
    BlockSlots slots;
    size_t seen = 0;  // running lanes that are taken into account
  };
  Timeline* timeline_;
  std::map<int, One> clients_;
};

// Lanes whose next item has not begun.
struct Waiting {
  Lane* lanes[kMaxLanes];
  size_t count = 0;
};

// By priority, then by arrival. A kernel of which no block fits keeps back those behind it (Amert et al., RTSS 2017).
void start_what_fits(Timeline* timeline, Running* all, Waiting* waiting) {
  std::sort(waiting->lanes, waiting->lanes + waiting->count, [&](const Lane* one, const Lane* other) {
    const Item &first = timeline->head(*one), &second = timeline->head(*other);
    return std::tie(first.priority, first.not_before, one->index) <
           std::tie(second.priority, second.not_before, other->index);
  });
  std::array<bool, kMaxClients> full{};
  TakenSlots taken(timeline);
  for (size_t i = 0; i < waiting->count; ++i) {
    Lane* lane = waiting->lanes[i];
    const Blocks& blocks = timeline->head(*lane).blocks;
    bool& is_full = full[static_cast<size_t>(lane->client)];
    if (blocks.count > 0) is_full = is_full || !taken.fits(*all, *lane);
    if (blocks.count == 0 || !is_full) run_beside(timeline, all, lane);
  }
}

void start_turn(Timeline* timeline, Running* all) {
  if (timeline->now < timeline->runs_from) return;
  Waiting waiting;
  each_pending(timeline, [&](Lane& lane) {
    if (!can_run(timeline, lane) || party_of(*timeline, lane) != timeline->turn) return;
    if (running(lane))
      run_beside(timeline, all, &lane);
    else
      waiting.lanes[waiting.count++] = &lane;
  });
  if (waiting.count > 0) start_what_fits(timeline, all, &waiting);
  if (all->cached) all->kept = kept_part(timeline->cache, all->sets, static_cast<int>(all->count));
  share(all->sharers, all->count);
  queue_for_cache(timeline, all);
}

// In a nanosecond at full speed.
double touches(const Item& item) { return item.set.touched / item.alone_ns; }

// When a set's pass is over behind which another part of its touches hits.
int64_t next_pass(Timeline* timeline, const Running& all) {
  double soonest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < all.count; ++i) {
    if (all.sets[i] == nullptr) continue;
    const double left = touches_to_change(timeline->cache, *all.sets[i], all.kept);
    soonest = std::min(soonest, left / (touches(timeline->head(*all.lanes[i])) * all.sharers[i].speed));
  }
  // A rest of a pass that takes less than a nanosecond would be an event without end.
  return soonest < 9e18 ? timeline->now + std::max(int64_t{1}, static_cast<int64_t>(std::ceil(soonest))) : kForever;
}

int64_t next_arrival(Timeline* timeline) {
  int64_t next = kForever;
  each_pending(timeline, [&](Lane& lane) {
    const Item& item = timeline->head(lane);
    if (item.not_before > timeline->now) next = std::min(next, item.not_before);
  });
  return next;
}

int64_t next_end(const Timeline& timeline, const Running& all) {
  double soonest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < all.count; ++i) soonest = std::min(soonest, all.lanes[i]->left_ns / all.sharers[i].speed);
  // Rounded up to whole ns: never less than what is left.
  return soonest < 9e18 ? timeline.now + static_cast<int64_t>(std::ceil(soonest - kOver)) : kForever;
}

void note_pause(Item* item, int64_t from, int64_t to) {
  if (to - from <= item->pause_to - item->pause_from) return;
  item->pause_from = from;
  item->pause_to = to;
}

// Counts `passed` ns of the card's time for everything that runs; call before any of it is marked as over.
void count_work(Timeline* timeline, const Running& all, double passed) {
  std::array<bool, kMaxClients> ran{};
  for (size_t i = 0; i < all.count; ++i) {
    const Demand& demand = all.demands[i];
    const double alone = std::min(passed * all.sharers[i].speed, all.lanes[i]->left_ns);
    const auto moved = [&](Resource way, double gbs) { return alone * demand[way] * gbs; };
    Traffic& traffic = timeline->traffic;
    traffic.bus_in += moved(kCopyIn, timeline->bus_in_gbs);
    traffic.bus_out += moved(kCopyOut, timeline->bus_out_gbs);
    traffic.link_in += moved(kLinkIn, timeline->link_gbs);
    traffic.link_out += moved(kLinkOut, timeline->link_gbs);
    bool& counted = ran[static_cast<size_t>(all.sharers[i].client)];
    if (demand[kSms] > 0 && !counted) timeline->clients[all.sharers[i].client].kernel_ns += passed;
    counted = counted || demand[kSms] > 0;
  }
}

void touch_sets(Timeline* timeline, const Running& all, double passed) {
  for (size_t i = 0; i < all.count; ++i) {
    if (all.sets[i] == nullptr) continue;
    Item& item = timeline->head(*all.lanes[i]);
    const double alone = std::min(passed * all.sharers[i].speed, all.lanes[i]->left_ns);
    const double bytes = alone * touches(item);
    item.missed += touch(&timeline->cache, all.sets[i], bytes, all.kept);
    item.beside += bytes * used_beside(all, i);
  }
  make_room(&timeline->cache, all.sets, static_cast<int>(all.count));
}

void pass(Timeline* timeline, const Running& all, int64_t to) {
  const int64_t from = timeline->now;
  const auto passed = static_cast<double>(to - from);
  timeline->now = to;
  count_work(timeline, all, passed);
  if (all.cached) touch_sets(timeline, all, passed);
  for (size_t i = 0; i < all.count; ++i) {
    Lane* lane = all.lanes[i];
    note_pause(&timeline->head(*lane), lane->ran_until, from);
    lane->ran_until = to;
    lane->left_ns -= passed * all.sharers[i].speed;
    if (lane->left_ns > kOver || !running(*lane)) continue;
    timeline->kernel_over = true;
    finish(timeline, lane, to);
  }
}

void abandon_lane(Timeline* timeline, Lane* lane) {
  const uint64_t submitted = lane->submitted.load(std::memory_order_relaxed);
  for (uint64_t n = lane->over(); n < submitted; ++n) timeline->item(*lane, n).end = timeline->now;
  timeline->open_items -= lane->open_items;
  lane->open_items = 0;
  lane->started.store(submitted, std::memory_order_release);
  lane->finished.store(submitted, std::memory_order_release);
}

}  // namespace

void initialise(Timeline* timeline) {
  timeline->turn_ends = kForever;
  for (int i = 0; i < kMaxLanes; ++i) {
    timeline->lanes[i].index = i;
    timeline->lanes[i].client = -1;
  }
  for (Client& client : timeline->clients) client.participant = -1;
}

bool has_room(const Lane& lane, size_t count) {
  const uint64_t held = lane.submitted.load(std::memory_order_relaxed) - lane.collected.load(std::memory_order_acquire);
  return held + count <= kLaneItems;
}

LanePoint submit(Timeline* timeline, int index, const Item& item) {
  Lane& lane = timeline->lanes[index];
  const uint64_t number = lane.submitted.load(std::memory_order_relaxed);
  timeline->item(lane, number) = item;
  lane.open_items += item.kind == ItemKind::kOpen;
  timeline->open_items += item.kind == ItemKind::kOpen;
  lane.submitted.store(number + 1, std::memory_order_release);
  return {index, number + 1};
}

bool reached(const Timeline& timeline, const LanePoint& point) {
  return timeline.lanes[point.lane].finished.load(std::memory_order_acquire) >= point.items;
}

bool advance(Timeline* timeline, int64_t until, const LanePoint* points, size_t count) {
  const auto done = [&] {
    return count > 0 && std::all_of(points, points + count, [&](const LanePoint& p) { return reached(*timeline, p); });
  };
  for (;;) {
    pass_all_instants(timeline);
    if (done() || timeline->now >= until) return true;
    take_turns(timeline);
    Running all;
    start_turn(timeline, &all);
    const int64_t switched = timeline->runs_from > timeline->now ? timeline->runs_from : kForever;
    const int64_t slice = timeline->turns_end == TurnsEnd::kAfterSlice ? timeline->turn_ends : kForever;
    const int64_t pass_over = all.cached ? next_pass(timeline, all) : kForever;
    const int64_t next = std::min({next_arrival(timeline), next_end(*timeline, all), slice, switched, pass_over});
    if (next == kForever && until == kForever) return false;
    pass(timeline, all, std::min(next, until));
  }
}

void end_open(Timeline* timeline, int index, int64_t end) {
  Lane& lane = timeline->lanes[index];
  if (!lane.pending() || timeline->head(lane).kind != ItemKind::kOpen) return;  // abandoned in the meantime
  --lane.open_items;
  --timeline->open_items;
  finish(timeline, &lane, std::max(end, timeline->head(lane).start));
}

int64_t shortest_ns(Timeline* timeline, const LanePoint& point) {
  const Lane& lane = timeline->lanes[point.lane];
  double least = 0;
  for (uint64_t i = lane.over(); i < point.items; ++i) {
    const Item& item = timeline->item(lane, i);
    const bool runs = running(lane) && i == lane.over();
    const auto arrives = static_cast<double>(item.not_before - timeline->now);
    least = std::max(least, arrives);
    if (item.kind == ItemKind::kWork) least += runs ? lane.left_ns : item.alone_ns;
  }
  return static_cast<int64_t>(least);
}

std::vector<Pause> pauses_of(const Timeline& timeline, int client, Pause within) {
  const int party = timeline.clients[client].party;
  const uint64_t known = std::min<uint64_t>(timeline.turns_over, kTurns);
  std::vector<Pause> pauses;
  int64_t ran_until = within.from;
  const auto add = [&](const Turn& turn) {
    if (turn.party != party || turn.to <= within.from || turn.from >= within.to) return;
    if (turn.from > ran_until) pauses.push_back({ran_until, turn.from});
    ran_until = turn.to;
  };
  const uint64_t first = timeline.turns_over - known;
  if (known == kTurns && timeline.turns[first % kTurns].from > within.from) return {};
  for (uint64_t i = first; i < timeline.turns_over; ++i) add(timeline.turns[i % kTurns]);
  add({timeline.turn, timeline.runs_from, within.to});
  return pauses;
}

void fail(Timeline* timeline, int client, const Fault& fault) {
  const Client& faulty = timeline->clients[client];
  timeline->xid_events[timeline->xids++ % kXidEvents] = {timeline->now, fault.xid, faulty.participant};
  if (timeline->recovery_ns > 0) timeline->recovered_at = timeline->now + timeline->recovery_ns;
  for (int i = 0; i < kMaxClients; ++i) {
    Client& other = timeline->clients[i];
    if (other.participant < 0 || (other.party != faulty.party && !timeline->faults_spread)) continue;
    fail_alone(timeline, i, fault.code);
  }
}

void fail_alone(Timeline* timeline, int client, int code) {
  Client& failed = timeline->clients[client];
  int none = 0;
  if (failed.fault.load() == 0) failed.fault_told.store(timeline->now + timeline->fault_ns);
  failed.fault.compare_exchange_strong(none, code);
  abandon(timeline, client);
}

void abandon(Timeline* timeline, int client) {
  for (int i = 0; i < timeline->lanes_ever; ++i)
    if (timeline->lanes[i].client == client) abandon_lane(timeline, &timeline->lanes[i]);
}

namespace {

int take_client(Timeline* timeline, int participant, double sm_limit) {
  for (int i = 0; i < kMaxClients; ++i) {
    Client& client = timeline->clients[i];
    if (client.participant >= 0) continue;
    client.is_part = false;
    client.sm_limit = sm_limit;
    client.fault.store(0);
    client.fault_told.store(0);
    client.kernel_ns = 0;
    client.participant = participant;
    return i;
  }
  return -1;
}

}  // namespace

int open_client(Timeline* timeline, int participant, bool joined, double sm_limit) {
  const int client = take_client(timeline, participant, sm_limit);
  if (client < 0) return -1;
  timeline->clients[client].party = joined ? kJoined : client + 1;
  ++timeline->contexts;
  return client;
}

int open_partition(Timeline* timeline, int client, double sm_limit) {
  const Client& whole = timeline->clients[client];
  const int part = take_client(timeline, whole.participant, std::min(sm_limit, whole.sm_limit));
  if (part < 0) return -1;
  timeline->clients[part].party = whole.party;
  timeline->clients[part].is_part = true;
  return part;
}

void close_client(Timeline* timeline, int client) {
  for (int i = 0; i < timeline->lanes_ever; ++i)
    if (timeline->lanes[i].client == client) close_lane(timeline, i);
  forget_sets(&timeline->cache, client);
  timeline->clients[client].participant = -1;
  if (!timeline->clients[client].is_part) --timeline->contexts;
}

int open_lane(Timeline* timeline, int client) {
  for (Lane& lane : timeline->lanes) {
    if (lane.client >= 0) continue;
    lane.client = client;
    timeline->lanes_ever = std::max(timeline->lanes_ever, lane.index + 1);
    return lane.index;
  }
  return -1;
}

void close_lane(Timeline* timeline, int index) {
  Lane& lane = timeline->lanes[index];
  abandon_lane(timeline, &lane);
  lane.collected.store(lane.over(), std::memory_order_relaxed);
  lane.client = -1;
}

}  // namespace gvb::sim
