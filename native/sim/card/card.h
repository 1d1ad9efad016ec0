// One card as one process sees it: submits work to its timeline and waits for it.
//
// How the card's time passes: while only one context uses the card, nothing can disturb submitted work once the host
// waits for it, so the end is computed instead of waited for (a minute of device time costs nothing). While a second
// context is open, or a kernel runs that answers the host, a process that arrives later must find the card busy. The
// card's time is then the host's, and a waiting host sleeps. Timestamps are exact in both cases: they come from the
// timeline, which no scheduler delays.
#pragma once

#include <vector>

#include "sim/card/timeline.h"

namespace gvb::sim {

struct CardState;
struct RegionState;

// When a kernel ran on the card's timeline, in raw_now() nanoseconds.
struct Placement {
  int64_t start;
  int64_t end;
  // The longest time in between during which another context had the card; both 0: there was none.
  int64_t pause_from = 0;
  int64_t pause_to = 0;
  std::vector<Pause> pauses{};  // all of them; of a kernel that had the longest
  // See Item.
  double missed = 0;
  double beside = 0;
};

using Points = std::vector<LanePoint>;

class Card {
 public:
  Card(RegionState* region, int place, int participant);

  // Opens a context of this process; -1 if the card has no room for another one. Waits until the time has passed that
  // an earlier context computed ahead, and until the card has recovered from a fault.
  int open_client(bool joined, double sm_limit);
  int open_partition(int client, double sm_limit);  // of that context's multiprocessors; -1 as open_client
  void close_client(int client);
  int fault(int client) const;           // sticky code of its context; 0: none that the host can know
  int64_t fault_told(int client) const;  // time at which the host can know of it; 0: no fault
  bool party_failed() const;             // a client that MPS joins has failed, not alone, and is still there
  int64_t recovered_at() const;          // when a context can be opened after the last fault; 0: there was none

  int open_lane(int client);  // -1 if there is none
  void close_lane(int lane);

  bool has_room(int lane, size_t count) const;
  // Submits all at one moment of the card and returns the point of the last one.
  LanePoint submit(int lane, const Item* const* items, size_t count);
  void end_open(int lane, int64_t end);

  // Judges by the state of the last look.
  bool is_over(const LanePoint& point) const;
  bool has_begun(const LanePoint& point) const;
  Placement placement(const LanePoint& point) const;  // of an item that is over
  int64_t start_of(const LanePoint& point) const;     // of an item that has begun
  // Frees the place of an item that is over; call in the order of its lane.
  void collected(const LanePoint& point);

  void look();  // brings the timeline to the present
  // Looks or, if the end can be computed, passes the time until all are reached. True if they are.
  bool look_for(const Points& points);
  void wait_for(const Points& points);
  bool busy();

 private:
  void advance_to(int64_t until, const Points& points = {});  // holds the card's lock
  const Item& item(const LanePoint& point) const;             // the item whose end the point is
  int64_t pass_time(const Points& points);

  RegionState* region_;
  CardState* state_;
  int place_;
  int participant_;
};

}  // namespace gvb::sim
