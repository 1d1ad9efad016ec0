#include "sim/card/cache.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace gvb::sim {
namespace {

constexpr double kSame = 1e-9;

bool oversized(const Cache& cache, const CachedSet& set) { return set.bytes > cache.capacity; }

void scale(CachedSet* set, double by) {
  set->old *= by;
  set->fresh *= by;
}

void begin_pass(CachedSet* set) {
  set->untouched = set->bytes;
  set->old = set->fresh;
  set->fresh = 0;
}

// Within the pass.
double touch_some(CachedSet* set, double bytes, double kept) {
  const double hits = set->untouched > 0 ? bytes * set->old / set->untouched : 0;
  set->untouched -= bytes;
  set->old -= hits;
  set->fresh += bytes * kept;
  if (set->untouched <= kSame * set->bytes) begin_pass(set);
  return hits;
}

// Several tenants may have sets at the same address.
bool is(const CachedSet& known, int client, const WorkingSet& set) {
  return known.client == client && known.address == set.address && known.bytes == set.bytes;
}

}  // namespace

CachedSet* cached_set(Cache* cache, int client, const WorkingSet& set) {
  CachedSet* const begin = std::begin(cache->sets);
  CachedSet* const end = std::end(cache->sets);
  CachedSet* found = std::find_if(begin, end, [&](const CachedSet& known) { return is(known, client, set); });
  if (found != end) return found;
  found = std::find_if(begin, end, [](const CachedSet& known) { return known.bytes == 0; });
  // The one of which least is lost.
  if (found == end)
    found =
        std::min_element(begin, end, [](const CachedSet& a, const CachedSet& b) { return a.cached() < b.cached(); });
  *found = {client, set.address, set.bytes, set.bytes, 0, 0, 0};
  return found;
}

void forget_sets(Cache* cache, int client) {
  for (CachedSet& set : cache->sets)
    if (set.bytes > 0 && set.client == client) set = {};
}

double kept_part(const Cache& cache, CachedSet* const* running, int count) {
  double wanted = 0;
  for (int i = 0; i < count; ++i) {
    const bool known = std::find(running, running + i, running[i]) != running + i;
    if (running[i] != nullptr && !known) wanted += running[i]->bytes;
  }
  return wanted > cache.capacity ? cache.capacity / wanted : 1;
}

double hit_part(const Cache& cache, const CachedSet& set) {
  if (cache.capacity == 0) return 1;
  return oversized(cache, set) || set.untouched <= 0 ? 0 : std::min(1.0, set.old / set.untouched);
}

double touches_to_change(const Cache& cache, const CachedSet& set, double kept) {
  const double next = (set.fresh + set.untouched * kept) / set.bytes;
  const bool same = oversized(cache, set) || std::fabs(next - hit_part(cache, set)) < kSame;
  return same || cache.capacity == 0 ? std::numeric_limits<double>::infinity() : set.untouched;
}

double touch(Cache* cache, CachedSet* set, double bytes, double kept) {
  if (cache->capacity == 0) return 0;
  set->used = ++cache->touches;
  const double first = std::min(bytes, set->untouched);
  double hits = touch_some(set, first, kept);
  double left = bytes - first;
  // Whole passes, of which the first one may find another part than the others.
  if (left >= set->bytes) {
    hits += touch_some(set, set->bytes, kept);
    left -= set->bytes;
    const double passes = std::floor(left / set->bytes);
    hits += passes * set->bytes * kept;
    left -= passes * set->bytes;
  }
  hits += touch_some(set, left, kept);
  return oversized(*cache, *set) ? bytes : bytes - hits;
}

void make_room(Cache* cache, CachedSet* const* running, int count) {
  if (cache->capacity == 0) return;
  const auto runs = [&](const CachedSet& set) { return std::find(running, running + count, &set) != running + count; };
  double own = 0, excess = -cache->capacity;
  std::vector<CachedSet*> others;
  for (CachedSet& set : cache->sets) {
    excess += set.cached();
    if (runs(set))
      own += set.cached();
    else if (set.cached() > 0)
      others.push_back(&set);
  }
  if (excess <= 0) return;
  std::sort(others.begin(), others.end(), [](const CachedSet* a, const CachedSet* b) { return a->used < b->used; });
  for (CachedSet* set : others) {
    const double evicted = std::min(excess, set->cached());
    scale(set, 1 - evicted / set->cached());
    excess -= evicted;
  }
  if (excess <= 0) return;
  for (CachedSet& set : cache->sets)
    if (runs(set)) scale(&set, 1 - excess / own);
}

}  // namespace gvb::sim
