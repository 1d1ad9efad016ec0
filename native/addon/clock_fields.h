// Fields about the clocks of a process, which are a separate result and a part of an inspection.
#pragma once

#include "addon/fields.h"
#include "driver/clock_check.h"

namespace gvb {

template <>
struct Fields<TimeFunction> : FieldsOf<TimeFunction> {
  static constexpr const char* kName = "TimeFunction";
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
struct Fields<ClockReading> : FieldsOf<ClockReading> {
  static constexpr const char* kName = "ClockReading";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(functions).says("Functions with which the process reads time, and their owners."));
    visit(GVB_FIELD(rates));
    visit(GVB_FIELD(counter_unused).or_null());
  }
};

}  // namespace gvb
