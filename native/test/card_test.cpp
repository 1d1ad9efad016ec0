// The rules of a simulated card's timeline, each with a result computed by hand. Times are ns from 0.
#include <cmath>
#include <utility>
#include <vector>

#include "card_scene.h"
#include "check.h"

namespace test {
namespace {

// Work of one client that begins at 0, each in its own lane.
std::vector<int64_t> ends(const std::vector<std::pair<double, Demand>>& works) {
  Scene scene;
  const int client = scene.client();
  std::vector<LanePoint> points;
  for (const auto& [alone_ns, demand] : works) points.push_back(scene.put(scene.lane(client), 0, alone_ns, demand));
  std::vector<int64_t> found;
  for (const LanePoint& point : points) found.push_back(scene.end(point));
  return found;
}

using Ends = std::vector<int64_t>;

void equal_streams_get_half_each() {
  CHECK(ends({{100, demand_of(kDram)}, {100, demand_of(kDram)}}) == (Ends{200, 200}));
}

// 0.2 and 1.0 of the bandwidth: the small one is satisfied, the large one runs at 0.8 until 100 and has 20 left.
void a_small_demand_is_satisfied() {
  CHECK(ends({{100, demand_of(kDram, 0.2)}, {100, demand_of(kDram)}}) == (Ends{100, 120}));
}

void different_capacities_do_not_disturb() {
  CHECK(ends({{100, demand_of(kDram)}, {100, demand_of(kCopyIn)}, {100, demand_of(kCopyOut)}}) ==
        (Ends{100, 100, 100}));
}

// Each gets a third of the bandwidth, which is 2/3 of the speed of those that need half of it. At 180 the third one has
// done 60 of 120 and continues alone.
void three_unequal_streams() {
  CHECK(ends({{120, demand_of(kDram, 0.5)}, {120, demand_of(kDram, 0.5)}, {120, demand_of(kDram)}}) ==
        (Ends{180, 180, 240}));
}

// 1 + 0.2 of the multiprocessors and 0.5 + 1 of the bandwidth: the bandwidth is used up at 2/3 of the speed of both.
void the_scarcer_capacity_decides() {
  Demand computing = demand_of(kSms);
  computing[kDram] = 0.5;
  Demand copying = demand_of(kDram);
  copying[kSms] = 0.2;
  CHECK(ends({{100, computing}, {100, copying}}) == (Ends{150, 150}));
}

void nothing_demanded_is_nothing_shared() { CHECK(ends({{100, {}}, {100, {}}}) == (Ends{100, 100})); }

// The first is alone until 50; then both run at half speed: the first ends at 150, when the second has 50 left.
void a_later_arrival_slows_the_others() {
  Scene scene;
  const int client = scene.client();
  const LanePoint first = scene.put(scene.lane(client), 0, 100, demand_of(kDram));
  advance(scene.card(), 30);  // late binding: the end is not known yet
  const LanePoint second = scene.put(scene.lane(client), 50, 100, demand_of(kDram));
  CHECK_EQUAL(scene.end(first), 150);
  CHECK_EQUAL(scene.end(second), 200);
}

// A slice of 20 begins when the other context arrives: A until 30, B until 50, A until 70, where it ends, B until 80.
void contexts_take_turns() {
  Scene scene;
  const LanePoint a = scene.put(scene.alone(), 0, 50, demand_of(kSms));
  const LanePoint b = scene.put(scene.alone(), 10, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(a), 70);
  CHECK_EQUAL(scene.end(b), 80);
  CHECK_EQUAL(scene.start(b), 30);
  CHECK(scene.pause(a) == std::make_pair(int64_t{30}, int64_t{50}));
  CHECK(scene.pause(b) == std::make_pair(int64_t{50}, int64_t{70}));
}

// Nobody runs for 5 before each turn, the first one too. A: 5 to 30, since its slice begins when B comes at 10; B: 35
// to 55; A: 60 to 80; B: 85 to 95, where it ends; A: 100 to 105.
void nobody_runs_while_the_card_switches() {
  Scene scene;
  scene.card()->switch_ns = 5;
  const LanePoint a = scene.put(scene.alone(), 0, 50, demand_of(kSms));
  const LanePoint b = scene.put(scene.alone(), 10, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(b), 95);
  CHECK_EQUAL(scene.end(a), 105);
  CHECK_EQUAL(scene.start(b), 35);
  CHECK(scene.pause(b) == std::make_pair(int64_t{55}, int64_t{85}));
  const std::vector<std::pair<int64_t, int64_t>> turns{{5, 30}, {35, 55}, {60, 80}, {85, 95}};
  CHECK_EQUAL(scene.card()->turns_over, turns.size() + 1);
  for (size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = scene.card()->turns[i + 1];
    CHECK(std::make_pair(turn.from, turn.to) == turns[i]);
    CHECK_EQUAL(turn.party, i % 2 == 0 ? 1 : 2);
  }
}

// Two kernels of A and of B, which comes at 5. The slice of 20 is longer than no kernel and shorter than A's.
std::vector<int64_t> ends_of_turns(TurnsEnd rule) {
  Scene scene;
  scene.card()->turns_end = rule;
  const int a = scene.alone(), b = scene.alone();
  const std::vector<LanePoint> points{scene.put(a, 0, 30, demand_of(kSms)), scene.put(a, 0, 30, demand_of(kSms)),
                                      scene.put(b, 5, 10, demand_of(kSms)), scene.put(b, 5, 10, demand_of(kSms))};
  std::vector<int64_t> found;
  for (const LanePoint& point : points) found.push_back(scene.end(point));
  return found;
}

// A: 0 to 25, B: 25 to 45, where it has nothing left, A: 45 to 80.
void a_turn_ends_after_its_slice() { CHECK(ends_of_turns(TurnsEnd::kAfterSlice) == (Ends{50, 80, 35, 45})); }

// In turn: A to 30, B to 40, A to 70, B to 80.
void a_turn_ends_after_a_kernel() { CHECK(ends_of_turns(TurnsEnd::kAfterKernel) == (Ends{30, 70, 40, 80})); }

// B comes at 40, in A's second kernel.
void a_turn_ends_after_the_kernel_that_runs() {
  Scene scene;
  scene.card()->turns_end = TurnsEnd::kAfterKernel;
  const int a = scene.alone(), b = scene.alone();
  for (int i = 0; i < 3; ++i) scene.put(a, 0, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(scene.put(b, 40, 10, demand_of(kSms))), 70);
}

void a_turn_ends_when_its_party_is_idle() { CHECK(ends_of_turns(TurnsEnd::kWhenIdle) == (Ends{30, 60, 70, 80})); }

// B waits for A's turn to end at 20 and leaves at 5, when A has nothing to run until 100.
void a_turn_ends_with_no_party_left() {
  Scene scene;
  const int a = scene.alone(), b = scene.client();
  const LanePoint first = scene.put(a, 0, 5, demand_of(kSms));
  scene.put(scene.lane(b), 0, 50, demand_of(kSms));
  CHECK_EQUAL(scene.end(first), 5);
  close_client(scene.card(), b);
  CHECK_EQUAL(scene.end(scene.put(a, 100, 10, demand_of(kSms))), 110);
}

// Even if they need different capacities.
void a_turn_has_the_whole_card() {
  Scene scene;
  const LanePoint a = scene.put(scene.alone(), 0, 20, demand_of(kDram));
  const LanePoint b = scene.put(scene.alone(), 0, 20, demand_of(kCopyIn));
  CHECK_EQUAL(scene.end(a), 20);
  CHECK_EQUAL(scene.end(b), 40);
}

void mps_clients_run_at_the_same_time() {
  Scene scene;
  const LanePoint a = scene.put(scene.alone(true), 0, 100, demand_of(kSms));
  const LanePoint b = scene.put(scene.alone(true), 0, 100, demand_of(kSms));
  CHECK_EQUAL(scene.end(a), 200);
  CHECK_EQUAL(scene.end(b), 200);
  CHECK(scene.pause(a) == std::make_pair(int64_t{0}, int64_t{0}));
}

// Two clients with 40 together, and a program outside MPS with 40: slices of 20 alternate between the two sides.
void mps_takes_turns_with_other_programs() {
  Scene scene;
  const LanePoint a = scene.put(scene.alone(true), 0, 20, demand_of(kSms));
  const LanePoint b = scene.put(scene.alone(true), 0, 20, demand_of(kSms));
  const LanePoint other = scene.put(scene.alone(), 0, 40, demand_of(kSms));
  CHECK_EQUAL(scene.end(a), 60);
  CHECK_EQUAL(scene.end(b), 60);
  CHECK_EQUAL(scene.end(other), 80);
}

// With half of the multiprocessors work takes twice as long, even if nothing else runs; work that needs few of them is
// not slowed.
void a_limit_of_multiprocessors() {
  Scene scene;
  const int half = scene.client(true, 0.5);
  CHECK_EQUAL(scene.end(scene.put(scene.lane(half), 0, 100, demand_of(kSms))), 200);
  Scene small;
  CHECK_EQUAL(small.end(small.put(small.alone(true, 0.5), 0, 100, demand_of(kSms, 0.5))), 100);
}

// A quarter for the limited client, three quarters for the other: 300 of the second are done at 400, and by then the
// first has done 100 of 100.
void a_limit_leaves_the_rest_to_others() {
  Scene scene;
  const LanePoint limited = scene.put(scene.alone(true, 0.25), 0, 100, demand_of(kSms));
  const LanePoint other = scene.put(scene.alone(true), 0, 300, demand_of(kSms));
  CHECK_EQUAL(scene.end(limited), 400);
  CHECK_EQUAL(scene.end(other), 400);
}

void streams_of_one_client_share_its_limit() {
  Scene scene;
  const int half = scene.client(true, 0.5);
  const LanePoint a = scene.put(scene.lane(half), 0, 100, demand_of(kSms));
  const LanePoint b = scene.put(scene.lane(half), 0, 100, demand_of(kSms));
  CHECK_EQUAL(scene.end(a), 400);
  CHECK_EQUAL(scene.end(b), 400);
}

void a_stream_is_in_order_and_events_stamp_it() {
  Scene scene;
  const int client = scene.client();
  const int first = scene.lane(client), second = scene.lane(client);
  scene.put(first, 0, 100, demand_of(kSms));
  const LanePoint event = scene.put(first, ItemKind::kStamp, 10);
  const LanePoint behind = scene.put(first, 0, 50, demand_of(kSms));
  scene.put(second, ItemKind::kWait, 0, event);
  const LanePoint waiting = scene.put(second, 0, 50, demand_of(kCopyIn));
  const LanePoint late = scene.put(second, ItemKind::kStamp, 400);
  CHECK_EQUAL(scene.end(waiting), 150);
  CHECK_EQUAL(scene.start(waiting), 100);
  CHECK_EQUAL(scene.end(event), 100);
  CHECK_EQUAL(scene.end(behind), 150);
  CHECK_EQUAL(scene.end(late), 400);
}

// It takes half of the multiprocessors from another stream of its client until it is ended at 60, when 70 of 100 are
// left.
void an_open_kernel_runs_until_it_is_ended() {
  Scene scene;
  const int client = scene.client();
  const int open = scene.lane(client);
  scene.put(open, ItemKind::kOpen);
  const LanePoint other = scene.put(scene.lane(client), 0, 100, demand_of(kSms));
  advance(scene.card(), 60);
  end_open(scene.card(), open, 60);
  CHECK_EQUAL(scene.card()->open_items, 0u);
  CHECK_EQUAL(scene.end(other), 130);
}

// An endless kernel of another context has every other slice until its process is gone, at 100. The other's slices are
// 0 to 20, 40 to 60 and 80 to 100, so 40 of 100 are done then.
void a_killed_tenant_leaves_the_card_to_the_others() {
  Scene scene;
  const int killed = scene.client();
  scene.put(scene.lane(killed), ItemKind::kOpen);
  const LanePoint other = scene.put(scene.alone(), 0, 100, demand_of(kSms));
  advance(scene.card(), 100);
  close_client(scene.card(), killed);
  CHECK_EQUAL(scene.end(other), 160);
}

// A wait for a stream that is gone does not wait for the stream that uses its lane now.
void a_point_stays_reached_when_its_lane_serves_another_stream() {
  Scene scene;
  const int client = scene.client();
  const int first = scene.lane(client), waiting = scene.lane(client);
  scene.put(first, 0, 10, demand_of(kSms));
  const LanePoint second = scene.put(first, 0, 10, demand_of(kSms));
  scene.put(waiting, 0, 100, demand_of(kCopyIn));
  scene.put(waiting, ItemKind::kWait, 0, second);
  const LanePoint behind = scene.put(waiting, 0, 10, demand_of(kCopyIn));
  CHECK_EQUAL(scene.end(second), 20);
  close_lane(scene.card(), first);
  CHECK_EQUAL(scene.lane(client), first);
  CHECK_EQUAL(scene.end(behind), 110);
}

constexpr Fault kFault = {700, 31};

void a_fault_ends_its_own_context_alone() {
  Scene scene;
  const int faulty = scene.client(), other = scene.client();
  const int lane = scene.lane(faulty);
  scene.put(lane, 0, 10, demand_of(kSms), kFault);
  const LanePoint never = scene.put(lane, 0, 1000, demand_of(kSms));
  const LanePoint neighbour = scene.put(scene.lane(other), 0, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(neighbour), 40);
  CHECK_EQUAL(scene.end(never), 10);
  CHECK_EQUAL(scene.card()->clients[faulty].fault.load(), 700);
  CHECK_EQUAL(scene.card()->clients[other].fault.load(), 0);
  CHECK_EQUAL(scene.card()->xids, 1u);
  CHECK_EQUAL(scene.card()->xid_events[0].xid, 31);
  CHECK_EQUAL(scene.card()->xid_events[0].at, 10);
}

// It is over at 10; the host is told 7 later, and a context can be opened 100 later where the card needs that.
void a_fault_is_told_later_and_recovered_from() {
  for (const int64_t recovery_ns : {0, 100}) {
    Scene scene;
    scene.card()->fault_ns = 7;
    scene.card()->recovery_ns = recovery_ns;
    const int faulty = scene.client(), other = scene.client();
    const LanePoint point = scene.put(scene.lane(faulty), 0, 10, demand_of(kSms), kFault);
    CHECK_EQUAL(scene.end(point), 10);
    CHECK_EQUAL(scene.card()->clients[faulty].fault_told.load(), 17);
    CHECK_EQUAL(scene.card()->clients[other].fault_told.load(), 0);
    CHECK_EQUAL(scene.card()->recovered_at, recovery_ns == 0 ? 0 : 110);
    // The first fault counts: the context is lost since then.
    fail(scene.card(), faulty, {716, 13});
    CHECK_EQUAL(scene.card()->clients[faulty].fault.load(), 700);
    CHECK_EQUAL(scene.card()->clients[faulty].fault_told.load(), 17);
  }
}

// A program that is no client of the server continues.
void a_fault_reaches_all_mps_clients() {
  Scene scene;
  const int faulty = scene.client(true), neighbour = scene.client(true), outside = scene.client();
  scene.put(scene.lane(faulty), 0, 10, demand_of(kSms), kFault);
  const LanePoint cut = scene.put(scene.lane(neighbour), 0, 500, demand_of(kSms));
  const LanePoint other = scene.put(scene.lane(outside), 0, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(other), 50);  // the server's turn, in which both run at half speed, ends with the fault at 20
  CHECK_EQUAL(scene.end(cut), 20);
  CHECK_EQUAL(scene.card()->clients[neighbour].fault.load(), 700);
  CHECK_EQUAL(scene.card()->clients[outside].fault.load(), 0);
}

// The setting `fault_spread` makes it fail although it is no client of the server.
void a_fault_that_spreads_reaches_all() {
  Scene scene;
  scene.card()->faults_spread = true;
  const int faulty = scene.client(), other = scene.client();
  scene.put(scene.lane(faulty), 0, 10, demand_of(kSms), kFault);
  const LanePoint cut = scene.put(scene.lane(other), 0, 500, demand_of(kSms));
  CHECK_EQUAL(scene.end(cut), 10);
  CHECK_EQUAL(scene.card()->clients[other].fault.load(), 700);
}

// All clients that wait for the turn are killed during it.
void time_passes_when_no_party_takes_the_turn() {
  Scene scene;
  const int first = scene.client(), second = scene.client();
  scene.put(scene.lane(first), 0, 500, demand_of(kSms));
  scene.put(scene.lane(second), 0, 500, demand_of(kSms));
  CHECK(advance(scene.card(), 5));
  close_client(scene.card(), first);
  close_client(scene.card(), second);
  CHECK(advance(scene.card(), 1000));
  CHECK_EQUAL(scene.card()->now, 1000);
}

void the_shortest_wait_is_never_too_long() {
  Scene scene;
  const int client = scene.client();
  const int lane = scene.lane(client);
  scene.put(lane, 100, 50, demand_of(kSms));
  const LanePoint second = scene.put(lane, 0, 70, demand_of(kSms));
  CHECK_EQUAL(shortest_ns(scene.card(), second), 220);
  advance(scene.card(), 120);
  CHECK_EQUAL(shortest_ns(scene.card(), second), 100);
}

// A place in a lane is free again once its owner has read the result.
void a_full_lane_has_no_room() {
  Scene scene;
  const int lane = scene.alone();
  LanePoint last;
  for (uint64_t i = 0; i < kLaneItems; ++i) last = scene.put(lane, 0, 1, demand_of(kSms));
  CHECK(!has_room(scene.card()->lanes[lane], 1));
  CHECK_EQUAL(scene.end(last), static_cast<int64_t>(kLaneItems));
  CHECK(!has_room(scene.card()->lanes[lane], 1));
  scene.card()->lanes[lane].collected.store(1);
  CHECK(has_room(scene.card()->lanes[lane], 1));
}

// Ten ns alone at 2 bytes per ns are 20 bytes, however long they take beside another copy.
void moved_bytes_are_counted_as_they_move() {
  Scene scene;
  scene.card()->bus_in_gbs = 2;
  scene.card()->bus_out_gbs = 4;
  scene.card()->link_gbs = 3;
  const int client = scene.client();
  const LanePoint first = scene.put(scene.lane(client), 0, 10, demand_of(kCopyIn));
  const LanePoint second = scene.put(scene.lane(client), 0, 10, demand_of(kCopyIn));
  const LanePoint link = scene.put(scene.lane(client), 0, 10, demand_of(kLinkOut));
  const Traffic& traffic = scene.card()->traffic;
  advance(scene.card(), 5);
  CHECK_EQUAL(std::lround(traffic.bus_in), 10);
  CHECK_EQUAL(std::lround(traffic.link_out), 15);
  CHECK_EQUAL(scene.end(first), 20);
  CHECK_EQUAL(scene.end(second), 20);
  CHECK_EQUAL(scene.end(link), 10);
  CHECK_EQUAL(std::lround(traffic.bus_in), 40);
  CHECK_EQUAL(std::lround(traffic.link_out), 30);
  CHECK_EQUAL(traffic.bus_out + traffic.link_in, 0.0);
  // Work that alone uses half of the bus moves half as much in its time.
  const LanePoint staged = scene.put(scene.lane(client), 20, 10, demand_of(kCopyOut, 0.5));
  CHECK_EQUAL(scene.end(staged), 30);
  CHECK_EQUAL(std::lround(traffic.bus_out), 20);
}

// A: 0 to 30, B: 30 to 50, A: 50 to 70, B: 70 to 80. Two concurrent kernels of a context count once; a copy does not
// count.
void kernel_time_counts_for_its_context() {
  Scene scene;
  const int first = scene.client(), second = scene.client();
  scene.put(scene.lane(first), 0, 50, demand_of(kSms, 0.5));
  scene.put(scene.lane(first), 0, 50, demand_of(kSms, 0.5));
  scene.put(scene.lane(first), 0, 5, demand_of(kCopyIn));
  const LanePoint last = scene.put(scene.lane(second), 10, 30, demand_of(kSms));
  CHECK_EQUAL(scene.end(last), 80);
  CHECK_EQUAL(std::lround(scene.card()->clients[first].kernel_ns), 50);
  CHECK_EQUAL(std::lround(scene.card()->clients[second].kernel_ns), 30);
  close_client(scene.card(), second);
  CHECK_EQUAL(scene.client(), second);
  CHECK_EQUAL(scene.card()->clients[second].kernel_ns, 0.0);
}

constexpr double kExact = 1e-6;

// Of a cache of 100 bytes. The first pass of 50 takes 150; then everything is there.
void what_was_read_before_is_cached() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const int lane = scene.alone();
  const LanePoint first = scene.read(lane, 0, 1, 50, 200);
  const LanePoint second = scene.read(lane, 0, 1, 50, 75);
  CHECK_EQUAL(scene.end(first), 300);
  CHECK_NEAR(scene.missed(first), 50, kExact);
  CHECK_EQUAL(scene.end(second), 375);
  CHECK_NEAR(scene.missed(second), 0, kExact);
}

void a_set_beyond_the_cache_never_hits() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const LanePoint all = scene.read(scene.alone(), 0, 1, 101, 404);
  CHECK_EQUAL(scene.end(all), 3 * 404);
  CHECK_NEAR(scene.missed(all), 404, kExact);
}

// The other reads its bytes once. What the two do not have room for is evicted of the first, which does not run.
void others_evict_what_does_not_fit_beside_theirs() {
  for (const auto& [bytes, evicted] : {std::pair{50.0, 0.0}, {75.0, 0.0}, {80.0, 5.0}, {100.0, 25.0}, {400.0, 25.0}}) {
    Scene scene;
    scene.card()->cache.capacity = 100;
    const int first = scene.alone(), other = scene.alone();
    scene.read(first, 0, 1, 25, 50);
    scene.read(other, 1000, 1, bytes, bytes);
    const LanePoint probe = scene.read(first, 3000, 1, 25, 25);
    scene.end(probe);
    CHECK_NEAR(scene.missed(probe), evicted, kExact);
  }
}

// Of two sets that nobody reads, 40 that were read first and 25 behind them, a burst of 60 evicts 25 of the first
// alone.
void what_was_read_longest_ago_is_evicted_first() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const int first = scene.alone(), second = scene.alone(), other = scene.alone();
  scene.read(first, 0, 1, 40, 40);
  scene.read(second, 1000, 1, 25, 25);
  scene.read(other, 2000, 1, 60, 60);
  const LanePoint young = scene.read(second, 3000, 1, 25, 25);
  scene.end(young);
  CHECK_NEAR(scene.missed(young), 0, kExact);
  const LanePoint old = scene.read(first, 4000, 1, 40, 40);
  scene.end(old);
  CHECK_NEAR(scene.missed(old), 25, kExact);
}

// Three sets of 50 at the same time: two thirds of each stay. After a first pass of misses and one behind it, each
// touch hits with that part.
void sets_that_are_read_together_share_the_cache() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  std::vector<LanePoint> reads;
  for (int i = 0; i < 3; ++i) reads.push_back(scene.read(scene.alone(true), 0, 1, 50, 5000));
  for (const LanePoint& point : reads) {
    CHECK_EQUAL(scene.end(point), 150 + 4950 * 5 / 3);
    CHECK_NEAR(scene.missed(point), 50 + 4950 / 3.0, kExact);
  }
}

// Slices of 20. In each turn the first reads its 5 again, which the other has evicted: 15 for misses, and 5 hits until
// the turn ends.
void contexts_that_take_turns_evict_each_other() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const int first = scene.alone(), other = scene.alone();
  const LanePoint reader = scene.read(first, 0, 1, 5, 40);
  scene.read(other, 0, 1, 400, 40'000, 100);
  scene.end(reader);
  // Ten of forty in each turn.
  CHECK_NEAR(scene.missed(reader), 20, kExact);
  CHECK_EQUAL(scene.end(reader), 140);
}

// At half of the L2's rate used by the other, a touch takes a tenth more where `queue` is 0.2.
void touches_queue_behind_others() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const int first = scene.alone(true), other = scene.alone(true);
  Item item;
  item.alone_ns = 1000;
  item.set = {1, 50, 1000, 1, 0, 0.2};
  const LanePoint reader = submit(scene.card(), first, item);
  scene.put(other, 0, 10'000, demand_of(kL2, 0.5));
  CHECK_EQUAL(scene.end(reader), 1100);
}

void sets_of_a_context_that_is_gone_are_forgotten() {
  Scene scene;
  scene.card()->cache.capacity = 100;
  const int gone = scene.client();
  scene.end(scene.read(scene.lane(gone), 0, 1, 80, 160));
  close_client(scene.card(), gone);
  const LanePoint again = scene.read(scene.alone(), 1000, 1, 80, 80);
  scene.end(again);
  CHECK_NEAR(scene.missed(again), 80, kExact);
}

}  // namespace
}  // namespace test

int main() {
  using namespace test;
  equal_streams_get_half_each();
  a_small_demand_is_satisfied();
  different_capacities_do_not_disturb();
  three_unequal_streams();
  the_scarcer_capacity_decides();
  nothing_demanded_is_nothing_shared();
  a_later_arrival_slows_the_others();
  contexts_take_turns();
  nobody_runs_while_the_card_switches();
  a_turn_ends_after_its_slice();
  a_turn_ends_after_a_kernel();
  a_turn_ends_after_the_kernel_that_runs();
  a_turn_ends_when_its_party_is_idle();
  a_turn_ends_with_no_party_left();
  a_turn_has_the_whole_card();
  mps_clients_run_at_the_same_time();
  mps_takes_turns_with_other_programs();
  a_limit_of_multiprocessors();
  a_limit_leaves_the_rest_to_others();
  streams_of_one_client_share_its_limit();
  a_stream_is_in_order_and_events_stamp_it();
  an_open_kernel_runs_until_it_is_ended();
  a_killed_tenant_leaves_the_card_to_the_others();
  a_point_stays_reached_when_its_lane_serves_another_stream();
  a_fault_ends_its_own_context_alone();
  a_fault_is_told_later_and_recovered_from();
  a_fault_reaches_all_mps_clients();
  a_fault_that_spreads_reaches_all();
  time_passes_when_no_party_takes_the_turn();
  the_shortest_wait_is_never_too_long();
  a_full_lane_has_no_room();
  moved_bytes_are_counted_as_they_move();
  kernel_time_counts_for_its_context();
  what_was_read_before_is_cached();
  a_set_beyond_the_cache_never_hits();
  others_evict_what_does_not_fit_beside_theirs();
  what_was_read_longest_ago_is_evicted_first();
  sets_that_are_read_together_share_the_cache();
  contexts_that_take_turns_evict_each_other();
  touches_queue_behind_others();
  sets_of_a_context_that_is_gone_are_forgotten();
  return report("card_test");
}
