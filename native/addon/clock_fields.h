// Fields about the clocks of a process, which are a separate result and a part of an inspection.
#pragma once

#include "addon/fields.h"
#include "driver/clock_check.h"

namespace gvb {

template <>
struct Fields<LibcFunction> : FieldsOf<LibcFunction> {
  static constexpr const char* kName = "LibcFunction";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(owner).or_null());
    visit(GVB_FIELD(own).says("Whether it is libc's function and its code is the same as in libc's file."));
  }
};

template <>
struct Fields<ClockRate> : FieldsOf<ClockRate> {
  static constexpr const char* kName = "ClockRate";
  static constexpr const char* kDoc =
      "Time that has passed since the addon was loaded, by libc's function, the raw system call and the processor's "
      "counter.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(clock));
    visit(GVB_FIELD(library_ns));
    visit(GVB_FIELD(system_ns));
    visit(GVB_FIELD(counter_ns).says("Null if the counter cannot be used; `counterUnused` gives the reason."));
    visit(GVB_FIELD(bracket_ns).says("Time between two readings of the same moment."));
  }
};

template <>
struct Fields<ClockAgreement> : FieldsOf<ClockAgreement> {
  static constexpr const char* kName = "ClockAgreement";
  static constexpr const char* kDoc =
      "Whether clock and processor's counter advanced by the same time between readings.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(compared).says("Pairs of successive readings of a thread."));
    visit(GVB_FIELD(unclear).says("Readings during which the thread lost its processor, or that took long."));
    visit(GVB_FIELD(differing));
    visit(GVB_FIELD(largest_ns).says("The largest difference; 0 if none."));
  }
};

template <>
struct Fields<ClockReading> : FieldsOf<ClockReading> {
  static constexpr const char* kName = "ClockReading";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(functions).says("Functions with which the process reads time, and their owners."));
    visit(GVB_FIELD(rates));
    visit(GVB_FIELD(counter_unused).or_null());
    visit(GVB_FIELD(agreed).says(
        "Agreement of all readings since the addon was loaded; null if no counter can be trusted."));
    visit(GVB_FIELD(vdso).or_null().says("Digest of the kernel's code for reading clocks, the same in every process."));
  }
};

}  // namespace gvb
