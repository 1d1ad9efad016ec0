// The answer of a process whose kernel failed.
#pragma once

#include "addon/fields.h"
#include "bench/faults.h"

namespace gvb {

template <>
struct Fields<FaultAnswer> : FieldsOf<FaultAnswer> {
  static constexpr const char* kName = "FaultAnswer";
  static constexpr const char* kDoc = "What the driver said when it was waited for the faulty kernel.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(told_at_ns).says("When the call that reported the fault returned, on the clock of `now`."));
  }
};

}  // namespace gvb
