// The rules of a simulated card's timeline, each with a result computed by hand. Times are ns from 0.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "check.h"
#include "sim/card/timeline.h"

namespace test {
namespace {

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

  int64_t start(const LanePoint& point) { return item(point).start; }
  std::pair<int64_t, int64_t> pause(const LanePoint& point) { return {item(point).pause_from, item(point).pause_to}; }

 private:
  const Item& item(const LanePoint& point) { return card()->items[point.lane][(point.items - 1) % kLaneItems]; }

  struct Free {
    void operator()(Timeline* timeline) const { std::free(timeline); }
  };
  std::unique_ptr<Timeline, Free> timeline_;
};

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
  a_fault_reaches_all_mps_clients();
  a_fault_that_spreads_reaches_all();
  time_passes_when_no_party_takes_the_turn();
  the_shortest_wait_is_never_too_long();
  a_full_lane_has_no_room();
  moved_bytes_are_counted_as_they_move();
  kernel_time_counts_for_its_context();
  return report("card_test");
}
