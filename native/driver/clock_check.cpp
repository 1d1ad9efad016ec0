#include "driver/clock_check.h"

#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "base/hexadecimal.h"
#include "base/processor_counter.h"
#include "base/system_call.h"
#include "base/wait.h"
#include "driver/memory_map.h"

namespace gvb {

namespace {

struct Clock {
  clockid_t id;
  const char* name;
};
// The clock that measurement loops read, and the one that Node's timers and performance.now() read.
constexpr Clock kClocks[] = {{CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW"}, {CLOCK_MONOTONIC, "CLOCK_MONOTONIC"}};
constexpr size_t kClockCount = sizeof kClocks / sizeof kClocks[0];
using Moments = std::array<ClockMoment, kClockCount>;

int64_t nanoseconds(const timespec& time) { return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

int64_t system_time(clockid_t clock) {
  timespec time{};
  system_call(SYS_clock_gettime, clock, address_of(&time));
  return nanoseconds(time);
}

int64_t library_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

// Keeps the tightest of several tries: if the thread is descheduled between two readings, they say nothing about the
// clocks.
ClockMoment moment_of(clockid_t clock) {
  constexpr int kTries = 50;
  constexpr int64_t kTightNs = 2'000;
  ClockMoment best{0, 0, INT64_MAX, 0};
  for (int i = 0; i < kTries && best.bracket_ns > kTightNs; ++i) {
    const int64_t before = system_time(clock);
    const int64_t library = library_time(clock);
    const uint64_t counter = processor_counter();
    const int64_t after = system_time(clock);
    if (after - before < best.bracket_ns) best = {library, before + (after - before) / 2, after - before, counter};
  }
  return best;
}

Moments read_moments() {
  Moments moments;
  for (size_t i = 0; i < kClockCount; ++i) moments[i] = moment_of(kClocks[i].id);
  return moments;
}

const Moments& beginning() {
  static const Moments moments = read_moments();
  return moments;
}

std::vector<LibcFunction> time_functions() {
  return CLibrary().judged({
      {"clock_gettime", reinterpret_cast<const void*>(&::clock_gettime)},
      {"gettimeofday", reinterpret_cast<const void*>(&::gettimeofday)},
  });
}

// The kernel maps the same code into every process, so another digest than a clean process's shows a change.
std::string vdso_digest() {
  const KernelCode code = kernel_code();
  if (code.size == 0) return "";
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (size_t at = 0; at < code.size; ++at) hash = (hash ^ code.bytes[at]) * 0x100000001b3;
  return hexadecimal(&hash, sizeof hash);
}

ClockRate rate_of(size_t index, const ClockMoment& from, const ClockMoment& to, std::optional<double> frequency) {
  ClockRate rate{};
  rate.clock = kClocks[index].name;
  rate.library_ns = static_cast<double>(to.library_ns - from.library_ns);
  rate.system_ns = static_cast<double>(to.system_ns - from.system_ns);
  if (frequency) rate.counter_ns = static_cast<double>(to.counter - from.counter) / *frequency * 1e9;
  rate.bracket_ns = static_cast<double>(from.bracket_ns + to.bracket_ns);
  return rate;
}

}  // namespace

void begin_clock_check() {
  constexpr int64_t kLongEnoughNs = 3'000'000;
  static const bool begun = [] {
    const ClockMoment from = beginning()[0];
    if (!counter_untrusted().empty()) return false;
    // By system calls, so that no layer has a say in the rate.
    while (system_time(kClocks[0].id) - from.system_ns < kLongEnoughNs) {
    }
    const ClockMoment to = moment_of(kClocks[0].id);
    ClockWatch::begin(static_cast<double>(to.system_ns - from.system_ns) /
                      static_cast<double>(to.counter - from.counter));
    return true;
  }();
  (void)begun;
}

ClockReading read_clocks(int64_t least_ns) {
  const Moments& from = beginning();
  while (system_time(kClocks[0].id) - from[0].system_ns < least_ns) nap_ns(1'000'000);
  const CounterFrequency frequency = counter_frequency();
  const Moments to = read_moments();
  ClockReading reading;
  reading.functions = time_functions();
  reading.counter_unused = frequency.unknown;
  if (counter_untrusted().empty()) reading.agreed = ClockWatch::agreement();
  reading.vdso = vdso_digest();
  for (size_t i = 0; i < kClockCount; ++i) reading.rates.push_back(rate_of(i, from[i], to[i], frequency.hertz));
  return reading;
}

}  // namespace gvb
