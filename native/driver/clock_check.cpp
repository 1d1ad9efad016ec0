#include "driver/clock_check.h"

#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "base/processor_counter.h"
#include "base/wait.h"
#include "driver/code_on_disk.h"
#include "driver/symbol_paths.h"

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

// Uses the instruction itself: libc's clock_gettime and syscall() can both be interposed.
int64_t system_time(clockid_t clock) {
  timespec time{};
#if defined(__x86_64__)
  long result = 228;
  asm volatile("syscall" : "+a"(result) : "D"(static_cast<long>(clock)), "S"(&time) : "rcx", "r11", "memory");
#else
  register long number asm("x8") = 113;
  register long first asm("x0") = clock;
  register timespec* second asm("x1") = &time;
  asm volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
#endif
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

const ElfImage* c_library(const std::vector<ElfImage>& images) {
  const auto found = std::find_if(images.begin(), images.end(), [](const ElfImage& image) {
    return image.soname() == "libc.so.6" && image.find("clock_gettime");
  });
  return found == images.end() ? nullptr : &*found;
}

// glibc resolves some of these functions to the kernel's vDSO.
bool is_vdso(const std::string& owner) { return owner.find("linux-vdso") != std::string::npos; }

std::vector<TimeFunction> time_functions() {
  const std::vector<ElfImage> images = ElfImage::all();
  const ElfImage* libc = c_library(images);
  // The addresses as this object resolves them; Node's executable looks up the same names in the same scope.
  const std::pair<const char*, const void*> addresses[] = {
      {"clock_gettime", reinterpret_cast<const void*>(&::clock_gettime)},
      {"gettimeofday", reinterpret_cast<const void*>(&::gettimeofday)},
  };
  std::vector<TimeFunction> functions;
  for (const auto& [name, address] : addresses) {
    std::string owner = owner_of(address);
    bool own = is_vdso(owner) || (libc && owner == libc->path());
    if (own && libc && owner == libc->path())
      if (const auto patch = CodeOnDisk(*libc).patch_at(address)) {
        own = false;
        if (!patch->owner.empty()) owner = patch->owner;
      }
    functions.push_back({name, owner, own});
  }
  return functions;
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

void begin_clock_check() { beginning(); }

ClockReading read_clocks(int64_t least_ns) {
  const Moments& from = beginning();
  while (system_time(kClocks[0].id) - from[0].system_ns < least_ns) nap_ns(1'000'000);
  const CounterFrequency frequency = counter_frequency();
  const Moments to = read_moments();
  ClockReading reading;
  reading.functions = time_functions();
  reading.counter_unused = frequency.unknown;
  for (size_t i = 0; i < kClockCount; ++i) reading.rates.push_back(rate_of(i, from[i], to[i], frequency.hertz));
  return reading;
}

}  // namespace gvb
