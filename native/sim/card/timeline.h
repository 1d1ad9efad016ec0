// What runs on a card and until when: plain state in shared memory and the rules that advance it. It knows no clock,
// lock or process: the caller holds the card's lock and passes the time.
//
// The end of work is known only once the card's time has passed it, because work that arrives meanwhile slows it down.
// The card's time advances from event to event: an arrival, an end, the end of a turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/card/block_slots.h"
#include "sim/card/cache.h"
#include "sim/card/sharing.h"

namespace gvb::sim {

constexpr int kMaxLanes = 256;
constexpr int kMaxClients = 128;
constexpr uint64_t kLaneItems = 1024;  // items of a lane that wait, run, or whose end their owner has not read
constexpr uint64_t kTurns = 4096;      // finished turns that are kept, the latest ones
constexpr int kJoined = 0;             // the party of the clients that MPS joins
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// A position in a lane: reached once this many of its items are over.
struct LanePoint {
  int lane = -1;
  uint64_t items = 0;
};

enum class ItemKind : int32_t {
  kWork,   // takes `alone_ns` if nothing shares the card with it
  kOpen,   // runs until it is ended: a kernel that answers the host, or an endless one
  kWait,   // waits for a point of another lane
  kStamp,  // takes no time: an event
};

// How work fails.
struct Fault {
  int code = 0;  // the driver's error code; 0: it succeeds
  int xid = 0;   // NVML's number for it
};

struct Item {
  ItemKind kind = ItemKind::kWork;
  int64_t not_before = 0;
  double alone_ns = 0;
  Demand demand{};
  Blocks blocks;     // of a kernel: it waits until one of them fits beside those of its client that run
  int priority = 0;  // of its stream: of kernels that wait, the lowest number starts first
  WorkingSet set;
  LanePoint after;  // for kWait
  Fault fault;
  // The results.
  int64_t start = 0;
  int64_t end = 0;
  // The longest time in between during which another party had the turn; both 0: there was none.
  int64_t pause_from = 0;
  int64_t pause_to = 0;
  double missed = 0;  // bytes of its working set that were not cached when it touched them
  double beside = 0;  // bytes that it touched, each times the part of the L2's rate that others used then
};

// A stream: its items run one after the other. The counters never decrease, even when another stream takes over the
// lane, so that a point of the earlier stream stays reached.
struct Lane {
  int index;
  int client;                      // -1: free
  std::atomic<uint64_t> started;   // items that have begun; at most one more than are over
  std::atomic<uint64_t> finished;  // items that are over
  std::atomic<uint64_t> submitted;
  std::atomic<uint64_t> collected;  // items whose end the owner has read: their places are free
  uint64_t open_items;
  double left_ns;     // remaining time of the running item
  int64_t ran_until;  // end of the last interval in which the running item ran

  uint64_t over() const { return finished.load(std::memory_order_relaxed); }
  bool pending() const { return over() < submitted.load(std::memory_order_relaxed); }
};

// A context. Parties take turns on the card. The clients of one party, which MPS joins, run at the same time and fail
// together.
struct Client {
  int participant;  // -1: free
  int party;
  bool is_part;  // of another client's context, which it shares with it
  double sm_limit;
  std::atomic<int> fault;           // sticky: the driver's code, or 0
  std::atomic<int64_t> fault_told;  // when the host can learn of it
  double kernel_ns;                 // card time during which one of its kernels ran
};

// What NVML reports as an Xid event.
struct XidEvent {
  int64_t at;
  int xid;
  int participant;
};
constexpr uint64_t kXidEvents = 64;  // the last ones are kept

// When a party ends its turn if another one waits.
enum class TurnsEnd : int32_t {
  kAfterSlice,
  kAfterKernel,  // when any kernel of the party is over
  kWhenIdle,     // when the party has nothing left to run
};

// A party's time on the card, while others waited or until another one came.
struct Turn {
  int party;
  int64_t from, to;
};

struct Pause {
  int64_t from, to;
};

// Bytes that went over the bus and the links since the card was made, as far as the card's time has passed.
struct Traffic {
  double bus_in, bus_out, link_in, link_out;
};

struct Timeline {
  int64_t now;
  int turn;           // the party that runs
  int64_t turn_ends;  // kForever while no other party waits
  int64_t slice_ns;
  int64_t runs_from;  // when the party of this turn begins to run; nothing runs while the card switches
  int64_t switch_ns;
  TurnsEnd turns_end;
  bool kernel_over;     // one has ended since another party waits
  int64_t fault_ns;     // from a fault until the host can learn of it
  int64_t recovery_ns;  // from a fault until a context can be opened
  int64_t recovered_at;
  uint64_t turns_over;
  Turn turns[kTurns];
  int contexts;    // number of open contexts
  int lanes_ever;  // number of lanes that were ever used
  uint64_t open_items;
  bool faults_spread;  // a fault fails every client, regardless of its party
  uint64_t xids;
  XidEvent xid_events[kXidEvents];
  // Rates, in bytes per ns, of work that has the bus or link to itself.
  double bus_in_gbs, bus_out_gbs, link_gbs;
  Traffic traffic;
  Cache cache;
  Lane lanes[kMaxLanes];
  Client clients[kMaxClients];
  Item items[kMaxLanes][kLaneItems];

  Item& item(const Lane& lane, uint64_t number) { return items[lane.index][number % kLaneItems]; }
  Item& head(const Lane& lane) { return item(lane, lane.over()); }
};

void initialise(Timeline* timeline);  // expects zeroed memory

bool has_room(const Lane& lane, size_t count);
LanePoint submit(Timeline* timeline, int lane, const Item& item);
bool reached(const Timeline& timeline, const LanePoint& point);

// Advances the card's time until `until`, or until every one of `points` is reached, whichever is earlier. False if no
// further event can reach them.
bool advance(Timeline* timeline, int64_t until, const LanePoint* points = nullptr, size_t count = 0);

// Ends the open item that runs at the head of a lane.
void end_open(Timeline* timeline, int lane, int64_t end);

// The shortest card time until a point is reached; 0 if it is not known.
int64_t shortest_ns(Timeline* timeline, const LanePoint& point);

// The intervals within a time in which another party had its turn, or the card switched. Empty if that is so long ago
// that it is no longer known.
std::vector<Pause> pauses_of(const Timeline& timeline, int client, Pause within);

// Fails a client and the others of its party: submitted work that is not over will not run.
void fail(Timeline* timeline, int client, const Fault& fault);
// Fails one client, and no other of its party.
void fail_alone(Timeline* timeline, int client, int code);
void abandon(Timeline* timeline, int client);

int open_client(Timeline* timeline, int participant, bool joined, double sm_limit);  // -1: none is free
// A part of a client's multiprocessors, which takes its turns and fails with it.
int open_partition(Timeline* timeline, int client, double sm_limit);
void close_client(Timeline* timeline, int client);  // with its lanes
int open_lane(Timeline* timeline, int client);      // -1: none is free
void close_lane(Timeline* timeline, int lane);      // with any work left in it

}  // namespace gvb::sim
