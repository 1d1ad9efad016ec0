#include "base/clock_watch.h"

#include <cstdlib>

namespace gvb {

namespace {

struct Totals {
  std::atomic<uint64_t> compared{0}, unclear{0}, differing{0};
  std::atomic<int64_t> largest_ns{0};
};
Totals totals;

}  // namespace

std::atomic<double> ClockWatch::ns_per_tick{0};

void ClockWatch::begin(double rate) { ns_per_tick = rate; }

ClockAgreement ClockWatch::agreement() {
  return {totals.compared, totals.unclear, totals.differing, totals.largest_ns};
}

void ClockWatch::note(int64_t difference) {
  totals.compared += compared_;
  compared_ = 0;
  if (difference == 0) return;
  ++totals.differing;
  const int64_t size = std::abs(difference);
  int64_t largest = totals.largest_ns;
  while (size > largest && !totals.largest_ns.compare_exchange_weak(largest, size)) {
  }
}

void ClockWatch::note_unclear() {
  ++totals.unclear;
  last_ns_ = 0;
}

}  // namespace gvb
