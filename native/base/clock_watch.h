// Compares every reading of the clock with the processor's counter. A layer that stops the clock while it works, and
// lets it catch up later, keeps its rate; only the time between two readings shows it.
#pragma once

#include <atomic>
#include <cstdint>

namespace gvb {

struct ClockAgreement {
  uint64_t compared = 0;   // pairs of successive readings of a thread
  uint64_t unclear = 0;    // readings that took too long to say anything
  uint64_t differing = 0;  // pairs between which clock and counter advanced by different times
  int64_t largest_ns = 0;  // the largest such difference
};

// The processor's counter before and behind a reading of the clock.
struct CounterSpan {
  uint64_t before, after;
};

class ClockWatch {
 public:
  // From now on, with the counter's rate; readings before are not compared.
  static void begin(double ns_per_tick);
  // Agreement of the readings of all threads; a thread's last few readings may be missing.
  static ClockAgreement agreement();
  static ClockWatch& of_thread() {
    static thread_local ClockWatch watch;
    return watch;
  }

  void saw(int64_t now, CounterSpan counter_span) {
    const auto [before, after] = counter_span;
    const double rate = ns_per_tick.load(std::memory_order_relaxed);
    if (rate == 0) return;
    const double took = static_cast<double>(after - before) * rate;
    if (took > kWidestNs) return note_unclear();
    const double clock = static_cast<double>(now - last_ns_);
    const double counter = static_cast<double>(static_cast<int64_t>(after - last_ticks_)) * rate;
    const double allowed = kAlwaysAllowedNs + took + last_took_ + kAllowedShare * counter;
    const bool differs = last_ns_ != 0 && (clock - counter > allowed || counter - clock > allowed);
    last_ns_ = now;
    last_ticks_ = after;
    last_took_ = took;
    ++compared_;
    if (differs || compared_ == kFlush) note(differs ? static_cast<int64_t>(clock - counter) : 0);
  }

 private:
  // If the thread loses its processor within a reading, the two say nothing about each other.
  static constexpr double kWidestNs = 2'000;
  static constexpr double kAlwaysAllowedNs = 300;
  // The rate is measured over some milliseconds.
  static constexpr double kAllowedShare = 5e-4;
  static constexpr uint64_t kFlush = 256;

  void note(int64_t difference);
  void note_unclear();

  static std::atomic<double> ns_per_tick;  // 0: not watched
  int64_t last_ns_ = 0;
  uint64_t last_ticks_ = 0;
  double last_took_ = 0;
  uint64_t compared_ = 0;
};

}  // namespace gvb
