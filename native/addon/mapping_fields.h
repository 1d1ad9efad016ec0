// How well the device's clock was mapped to the host's; part of several results.
#pragma once

#include "addon/fields.h"
#include "bench/clock_mapping.h"

namespace gvb {

template <>
struct Fields<MappingQuality> : FieldsOf<MappingQuality> {
  static constexpr const char* kName = "MappingQuality";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(residual_ns).says("Root mean square error of the tightest exchanges relative to the fitted line."));
    visit(GVB_FIELD(bracket_ns));
    visit(GVB_FIELD(drift_ppm));
    visit(GVB_FIELD(tick_ns));
  }
};

}  // namespace gvb
