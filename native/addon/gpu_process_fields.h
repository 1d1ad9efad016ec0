// Fields about a process on the GPU that several topics share.
#pragma once

#include "addon/fields.h"
#include "bench/gpu_state.h"

namespace gvb {

template <>
struct Fields<GpuProcess> : FieldsOf<GpuProcess> {
  static constexpr const char* kName = "GpuProcess";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(pid));
    visit(GVB_FIELD(used_bytes));
    visit(GVB_FIELD(mps_client).says("Null if NVML has no list of MPS clients."));
  }
};

}  // namespace gvb
