// What the L2 cache of a card holds: of every working set that kernels read again and again, how much. Plain state in
// shared memory, advanced with the timeline.
//
// Kernels that run at the same time keep the same part of their sets: all of it where the cache has room for all sets,
// else what it has room for, divided by size. Sets that nobody reads now give way first, the one that was read longest
// ago before the others. A set larger than the cache never hits, as where the line that was used longest ago is
// evicted, but takes room.
#pragma once

#include <cstdint>

namespace gvb::sim {

constexpr int kCachedSets = 256;

// A set that work reads in passes, each of which touches every byte once.
struct WorkingSet {
  uint64_t address = 0;
  double bytes = 0;          // 0: the work has none
  double touched = 0;        // in all; `Item::alone_ns` is their time if everything is cached
  double miss_slowness = 1;  // time of a touch that misses, relative to one that hits
  double miss_dram = 0;      // part of the DRAM's rate if every touch misses, at the speed of hits
  double queue = 0;          // a touch takes so much longer, relative to a hit, if others use all of the L2's rate
};

// The pass under way.
struct CachedSet {
  int client;
  uint64_t address;
  double bytes;      // 0: the place is free
  double untouched;  // of the pass
  double old;        // cached bytes that the pass has yet to touch
  double fresh;      // cached bytes that it has touched
  uint64_t used;     // number of the latest touch

  double cached() const { return old + fresh; }
};

struct Cache {
  double capacity;  // 0: nothing is modelled, everything hits
  uint64_t touches;
  CachedSet sets[kCachedSets];
};

// The set's state; a new one is not cached.
CachedSet* cached_set(Cache* cache, int client, const WorkingSet& set);
void forget_sets(Cache* cache, int client);

// The part that stays cached of what kernels touch that run at the same time and have these sets (nullptr: none).
double kept_part(const Cache& cache, CachedSet* const* running, int count);

// The part of touches that hit now.
double hit_part(const Cache& cache, const CachedSet& set);
// How many more touches until another part of them hits; infinite if none.
double touches_to_change(const Cache& cache, const CachedSet& set, double kept);

// Touches so many bytes of the set, of which `kept` stays. Returns how many missed.
double touch(Cache* cache, CachedSet* set, double bytes, double kept);
// Evicts what is beyond the capacity: of the sets that nobody reads now, then of all others in proportion.
void make_room(Cache* cache, CachedSet* const* running, int count);

}  // namespace gvb::sim
