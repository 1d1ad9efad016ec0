// One operation repeated at the same time by several tenants.
#include "bench/window.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<WindowOperation> kOperations{"",
                                           {{WindowOperation::kAllocFree, "allocFree"},
                                            {WindowOperation::kMemGetInfo, "memGetInfo"},
                                            {WindowOperation::kLaunch, "launch"}}};

}  // namespace

template <>
struct Fields<WindowRequest> : FieldsOf<WindowRequest> {
  static constexpr const char* kName = "WindowRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(
        GVB_FIELD(operation)
            .one_of(kOperations)
            .says("`launch` is timed without the synchronisation that follows it; `allocFree` is timed as one pair."));
    visit(GVB_FIELD(bytes).says("Size of an allocation in bytes; 0: the allocation granularity."));
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(most_samples)
              .above_zero()
              .says("Maximum number of samples; if there are more operations, every second, fourth, … is kept."));
  }
};

template <>
struct Fields<Window> : FieldsOf<Window> {
  static constexpr const char* kName = "TenantWindow";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(operations));
    visit(GVB_FIELD(verified).says(
        "For allocations: number of times that two blocks were written and read back, in addition to the operations."));
    visit(GVB_FIELD(used_before)
              .says("Device memory of this process before and after the window; null for other operations or if NVML "
                    "cannot report it."));
    visit(GVB_FIELD(used_after));
    visit(GVB_FIELD(at_ns).says("Start and duration of each sample's operation."));
    visit(GVB_FIELD(took_ns));
  }
};

namespace {

const Topic window_topic{
    "Windows of tenants",
    {in_session("window", measure_window)
         .says("Repeats one operation from a given time on. Several tenants do this at the same time.")}};

}  // namespace

}  // namespace gvb
