// Recovery from a fault in the same process.
#include "bench/context_reset.h"

#include "addon/fault_fields.h"
#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<ContextReset> : FieldsOf<ContextReset> {
  static constexpr const char* kName = "ContextReset";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(fault));
    visit(GVB_FIELD(reset_code).says("Result of cuDevicePrimaryCtxReset_v2."));
    visit(GVB_FIELD(reset_name));
    visit(GVB_FIELD(failed).says("The call that failed after it; empty: the next kernel ran."));
    visit(GVB_FIELD(first_result_at_ns).says("Time of the first result, on the clock of `now`; 0: there was none."));
    visit(GVB_FIELD(result_correct));
  }
};

namespace {

ContextReset context_reset(const DeviceTarget& target) { return reset_after_fault(target, CancelToken()); }

const Topic context_reset_topic{
    "Recovery in the same process",
    {without_session("contextReset", context_reset)
         .says(
             "Fails in a kernel, resets the primary context, and runs a kernel: the process is not used afterwards.")}};

}  // namespace

}  // namespace gvb
