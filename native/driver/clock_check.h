// Whether the clock that this process reads is the system's: who owns the functions, and whether they run at the rate
// of the raw system call and of the processor's counter. A layer that slows the program's clock halves every latency.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gvb {

// One moment of a clock, read both ways. The two readings of the system call bracket the library's.
struct ClockMoment {
  int64_t library_ns;
  int64_t system_ns;
  int64_t bracket_ns;
  uint64_t counter;
};

struct ClockRate {
  const char* clock;                 // as <time.h> names it
  double library_ns;                 // elapsed by clock_gettime as the process resolves it
  double system_ns;                  // by the system call itself
  std::optional<double> counter_ns;  // by the processor's counter; nothing where that is not to be trusted
  double bracket_ns;                 // how far apart two agreeing clocks may be read
};

struct TimeFunction {
  const char* name;
  std::string owner;  // of the address that the process calls
  bool own;           // it is the C library's, and its code is as in the file
};

struct ClockReading {
  std::vector<TimeFunction> functions;
  std::vector<ClockRate> rates;
  std::string counter_unused;  // why the processor's counter was not used; empty where it was
};

// Remembers the present as the beginning that later readings look back to. Once; later calls do nothing.
void begin_clock_check();

// Since begin_clock_check(); waits until at least `least_ns` have passed.
ClockReading read_clocks(int64_t least_ns = 10'000'000);

}  // namespace gvb
