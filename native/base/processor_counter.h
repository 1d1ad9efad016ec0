// The processor's time counter, read without a library or a system call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gvb {

inline uint64_t processor_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks;
#endif
}

struct CounterFrequency {
  std::optional<double> hertz;
  std::string unknown;  // why there is none; empty otherwise
};

// Why the counter does not keep time on this machine; empty if it does.
std::string counter_untrusted();

// The frequency that the processor or the hypervisor states; none if neither states it or the counter does not keep
// time on this machine.
CounterFrequency counter_frequency();

}  // namespace gvb
