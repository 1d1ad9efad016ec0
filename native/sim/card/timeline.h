// What runs on a card and until when, in rawest form: plain state in shared memory and the rules that move it. No
// clock, no lock, no process: the caller holds the card's lock and says until when.
//
// Work is bound late: its end is known when the card's time has passed it, because work that arrives meanwhile slows it
// down. The card's time passes in steps from event to event: an arrival, an end, the end of a turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "sim/card/sharing.h"

namespace gvb::sim {

constexpr int kMaxLanes = 256;
constexpr int kMaxClients = 128;
constexpr uint64_t kLaneItems = 1024;  // of one lane that wait, run, or whose end their owner has not read
constexpr int kJoined = 0;             // the party of the clients that MPS joins
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// A place in a lane: reached when so many of its items are over.
struct LanePoint {
  int lane = -1;
  uint64_t items = 0;
};

enum class ItemKind : int32_t {
  kWork,   // takes `alone_ns` where nobody shares the card with it
  kOpen,   // runs until it is ended: a kernel that answers the host, or an endless one
  kWait,   // for a point of another lane
  kStamp,  // takes no time: an event
};

// What work ends in.
struct Fault {
  int code = 0;  // the driver's; 0: it ends well
  int xid = 0;   // what NVML calls it
};

struct Item {
  ItemKind kind = ItemKind::kWork;
  int64_t not_before = 0;
  double alone_ns = 0;
  Demand demand{};
  LanePoint after;  // of kWait
  Fault fault;
  // What became of it.
  int64_t start = 0;
  int64_t end = 0;
  // The longest time in between in which its party did not have its turn; both 0: there was none.
  int64_t pause_from = 0;
  int64_t pause_to = 0;
};

// A stream: its items run one after the other. The counters never go back, also when the lane serves another stream, so
// that a point of the earlier one stays reached.
struct Lane {
  int index;
  int client;                      // -1: free
  std::atomic<uint64_t> started;   // items that have begun; at most one more than are over
  std::atomic<uint64_t> finished;  // items that are over
  std::atomic<uint64_t> submitted;
  std::atomic<uint64_t> collected;  // items whose end the owner has read: their places are free
  uint64_t open_items;
  double left_ns;     // of the one that runs
  int64_t ran_until;  // the same

  uint64_t over() const { return finished.load(std::memory_order_relaxed); }
  bool pending() const { return over() < submitted.load(std::memory_order_relaxed); }
};

// A context. Contexts take turns; those of one party, which MPS joins, run at the same time and fail together.
struct Client {
  int participant;  // -1: free
  int party;
  double sm_limit;
  std::atomic<int> fault;  // sticky: the driver's code, or 0
  double kernel_ns;        // the card's time in which one of its kernels ran
};

// What NVML reports as an Xid event.
struct XidEvent {
  int64_t at;
  int xid;
  int participant;
};
constexpr uint64_t kXidEvents = 64;  // the last ones are kept

// Bytes that went over the bus and the links since the card was made, as far as the card's time has passed.
struct Traffic {
  double bus_in, bus_out, link_in, link_out;
};

struct Timeline {
  int64_t now;
  int turn;           // the party that runs
  int64_t turn_ends;  // kForever while nobody else waits
  int64_t slice_ns;
  int contexts;    // that are open
  int lanes_ever;  // those beyond were never used
  uint64_t open_items;
  bool faults_spread;  // to every client, whatever its party
  uint64_t xids;
  XidEvent xid_events[kXidEvents];
  // At which work that has it alone moves data, in bytes a ns.
  double bus_in_gbs, bus_out_gbs, link_gbs;
  Traffic traffic;
  Lane lanes[kMaxLanes];
  Client clients[kMaxClients];
  Item items[kMaxLanes][kLaneItems];

  Item& item(const Lane& lane, uint64_t number) { return items[lane.index][number % kLaneItems]; }
  Item& head(const Lane& lane) { return item(lane, lane.over()); }
};

void initialise(Timeline* timeline);  // of zeroed memory

bool has_room(const Lane& lane, size_t count);
LanePoint submit(Timeline* timeline, int lane, const Item& item);
bool reached(const Timeline& timeline, const LanePoint& point);

// Passes the card's time until `until`, or until every one of `points` is reached, whichever is earlier. False where
// nothing that could happen would reach them.
bool advance(Timeline* timeline, int64_t until, const LanePoint* points = nullptr, size_t count = 0);

// Ends the open item that runs at the head of a lane.
void end_open(Timeline* timeline, int lane, int64_t end);

// How long at least the card's time has to pass until a point is reached; 0 where it cannot be said.
int64_t shortest_ns(Timeline* timeline, const LanePoint& point);

// Poisons a client and those of its party: what they submitted and what is not over will not run any more.
void fail(Timeline* timeline, int client, const Fault& fault);
void abandon(Timeline* timeline, int client);

int open_client(Timeline* timeline, int participant, bool joined, double sm_limit);  // -1: none is free
void close_client(Timeline* timeline, int client);                                   // with its lanes
int open_lane(Timeline* timeline, int client);                                       // -1: none is free
void close_lane(Timeline* timeline, int lane);                                       // with whatever is left in it

}  // namespace gvb::sim
