// Fields of a pair's result that several topics share.
#pragma once

#include "addon/fields.h"
#include "bench/paired_function.h"

namespace gvb {

template <>
struct Fields<PairBlock> : FieldsOf<PairBlock> {
  static constexpr const char* kName = "PairBlock";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(owner).or_null());
    visit(GVB_FIELD(bare_owner).or_null());
    visit(GVB_FIELD(intercepted));
    visit(GVB_FIELD(calls));
    visit(GVB_FIELD(hooked_ns).says("Time per call; one value per batch."));
    visit(GVB_FIELD(bare_ns));
    visit(GVB_FIELD(achieved_ns)
              .says("Median delay of the hook as measured by the calibration interposer; null if it is not loaded."));
  }
};

}  // namespace gvb
