// One card as one process sees it: a place on its timeline, and waiting for what runs there.
//
// How the card's time passes for the host: where one context uses the card, nothing that was submitted can be disturbed
// any more once somebody waits for it, so its end is computed and not waited for (a minute of device time costs
// nothing). Where a second context is open, or a kernel runs that answers the host, whoever may still arrive has to
// find the card busy: the card's time is the host's then, and a host that waits sleeps. Stamps stay exact either way:
// they come from the timeline, which no scheduler delays.
#pragma once

#include <vector>

#include "sim/card/timeline.h"

namespace gvb::sim {

struct CardState;
struct RegionState;

// Where a kernel ran on the card's timeline, in raw_now() nanoseconds.
struct Placement {
  int64_t start;
  int64_t end;
  // The longest time in between in which another context had its turn; both 0: there was none.
  int64_t pause_from = 0;
  int64_t pause_to = 0;
  std::vector<Pause> pauses{};  // all of them; of a kernel that had the longest
};

using Points = std::vector<LanePoint>;

class Card {
 public:
  Card(RegionState* region, int place, int participant);

  // A context of this process; -1 where the card has no room for another one. Waits until what an earlier context had
  // computed ahead of time is over.
  int open_client(bool joined, double sm_limit);
  void close_client(int client);
  int fault(int client) const;           // the sticky code of its context, 0: none of which the host can know
  int64_t fault_told(int client) const;  // when the host can know of it; 0: there is none
  bool party_failed() const;             // a client that MPS joins has failed and is still there

  int open_lane(int client);  // -1 where there is none
  void close_lane(int lane);

  bool has_room(int lane, size_t count) const;
  // All at one moment of the card; the point of the last one.
  LanePoint submit(int lane, const Item* const* items, size_t count);
  void end_open(int lane, int64_t end);

  // As far as anybody has looked.
  bool is_over(const LanePoint& point) const;
  bool has_begun(const LanePoint& point) const;
  Placement placement(const LanePoint& point) const;  // of one that is over
  int64_t start_of(const LanePoint& point) const;     // of one that has begun
  // The place of an item that is over may be used again; in the order of its lane.
  void collected(const LanePoint& point);

  void look();  // what has happened until now
  bool look_for(
      const Points& points);  // the same, or, where it can be computed, until all are reached; whether they are
  void wait_for(const Points& points);
  bool busy();

 private:
  const Item& item(const LanePoint& point) const;  // the one whose end the point is
  int64_t pass_time(const Points& points);

  RegionState* region_;
  CardState* state_;
  int participant_;
};

}  // namespace gvb::sim
