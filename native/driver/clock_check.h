// Checks whether the clock that this process reads is the system's: who owns the functions, and whether they run at the
// rate of the raw system call and of the processor's counter. A layer that halves the speed of the program's clock
// would halve every latency.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock_watch.h"
#include "driver/libc_functions.h"

namespace gvb {

// One moment of a clock, read through the library and by system call. Two readings by system call bracket the
// library's.
struct ClockMoment {
  int64_t library_ns;
  int64_t system_ns;
  int64_t bracket_ns;
  uint64_t counter;
};

struct ClockRate {
  const char* clock;                 // name in <time.h>
  double library_ns;                 // elapsed by clock_gettime as the process resolves it
  double system_ns;                  // elapsed by the system call
  std::optional<double> counter_ns;  // elapsed by the processor's counter; none if that cannot be trusted
  double bracket_ns;                 // largest difference that two agreeing clocks may show
};

struct ClockReading {
  std::vector<LibcFunction> functions;
  std::vector<ClockRate> rates;
  std::string counter_unused;            // why the counter's stated frequency was not used; empty if it was
  std::optional<ClockAgreement> agreed;  // of the readings that measurements took; none without a counter to trust
  std::string vdso;                      // digest of the kernel's code for reading clocks; empty if there is none
};

// Stores the present as the start for later readings, and begins to watch the clock; takes some milliseconds. Later
// calls do nothing.
void begin_clock_check();

// Clocks since begin_clock_check(); waits until at least `least_ns` have passed.
ClockReading read_clocks(int64_t least_ns = 10'000'000);

}  // namespace gvb
