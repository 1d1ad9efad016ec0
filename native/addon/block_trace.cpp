// Trace of where and when a tenant's blocks ran.
#include "bench/block_trace.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<BlockTraceRequest> : FieldsOf<BlockTraceRequest> {
  static constexpr const char* kName = "BlockTraceRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(spin_ns).above_zero().says("For how long every block watches the timer."));
    visit(GVB_FIELD(gap_ns).above_zero().says("A block that does not see the timer for longer did not run."));
  }
};

template <>
struct Fields<BlockTrace> : FieldsOf<BlockTrace> {
  static constexpr const char* kName = "BlockTrace";
  static constexpr const char* kDoc =
      "Stretches of a multiprocessor during which a block of the tenant ran on it; those less than `gapNs` apart are "
      "one.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(origin_ms).says("Time of the device's clock from which the other times count."));
    visit(GVB_FIELD(multiprocessor));
    visit(GVB_FIELD(from_ns).as_array());
    visit(GVB_FIELD(to_ns).as_array());
    visit(GVB_FIELD(blocks));
  }
};

namespace {

const Topic block_trace_topic{
    "Traces of blocks",
    {in_session("blockTrace", trace_blocks)
         .says("Keeps blocks running for a time, and says on which multiprocessors they were and when.")}};

}  // namespace

}  // namespace gvb
