// A trace of where and when a tenant's blocks ran.
#include "bench/block_trace.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<BlockTraceRequest> : FieldsOf<BlockTraceRequest> {
  static constexpr const char* kName = "BlockTraceRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(spin_ns).above_zero().says("Time during which every block watches the timer."));
    visit(GVB_FIELD(gap_ns).above_zero().says(
        "If a block does not see the timer for longer than this, it did not run in that time."));
    visit(GVB_FIELD(blocks).says("Blocks per kernel; 0: two per multiprocessor."));
    visit(GVB_FIELD(in_flight).says(
        "Maximum number of queued kernels; 0: enough to keep the device busy while the host is delayed."));
  }
};

template <>
struct Fields<BlockTrace> : FieldsOf<BlockTrace> {
  static constexpr const char* kName = "BlockTrace";
  static constexpr const char* kDoc =
      "Intervals during which a block of the tenant ran on a multiprocessor. Intervals less than `gapNs` apart are "
      "merged.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(origin_ms).says("Time on the device's clock; `fromNs` and `toNs` are relative to it."));
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
         .says("Keeps blocks running for a time and reports when they ran, and on which multiprocessors.")}};

}  // namespace

}  // namespace gvb
