#include "base/processor_counter.h"

#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gvb {

#if defined(__x86_64__)

namespace {

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf cpuid(unsigned number) {
  Leaf leaf;
  __cpuid_count(number, 0, leaf.a, leaf.b, leaf.c, leaf.d);
  return leaf;
}

// The kernel compares the counter with other clocks and stops using it if it does not keep time.
bool kernel_trusts_counter() {
  const auto source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source == "tsc" || source == "kvm-clock";
}

}  // namespace

// Intel's manual, CPUID leaves 15H (crystal and ratio) and 80000007H (invariant counter). Leaf 40000010H, introduced by
// VMware and optional under KVM, holds the counter's kHz.
std::string counter_untrusted() {
  const bool invariant = cpuid(0x80000000).a >= 0x80000007 && (cpuid(0x80000007).d & (1u << 8));
  return invariant && kernel_trusts_counter() ? "" : "the time-stamp counter does not keep time on this machine";
}

CounterFrequency counter_frequency() {
  const std::string untrusted = counter_untrusted();
  if (!untrusted.empty()) return {std::nullopt, untrusted};
  if (cpuid(0).a >= 0x15) {
    const Leaf ratio = cpuid(0x15);
    if (ratio.a > 0 && ratio.b > 0 && ratio.c > 0) return {static_cast<double>(ratio.c) * ratio.b / ratio.a, ""};
  }
  const bool virtual_machine = cpuid(1).c & (1u << 31);
  if (virtual_machine && cpuid(0x40000000).a >= 0x40000010 && cpuid(0x40000010).a > 0)
    return {1e3 * cpuid(0x40000010).a, ""};
  return {std::nullopt, "neither processor nor hypervisor state the frequency of the time-stamp counter"};
}

#else

std::string counter_untrusted() { return ""; }

CounterFrequency counter_frequency() {
  uint64_t frequency = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  if (frequency == 0) return {std::nullopt, "the system counter's frequency is not set"};
  return {static_cast<double>(frequency), ""};
}

#endif

}  // namespace gvb
