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
    visit(GVB_FIELD(operation)
              .one_of(kOperations)
              .says("`launch` is timed without the synchronisation that follows it; `allocFree` is both calls."));
    visit(GVB_FIELD(bytes).says("Size of an allocation; 0 asks for the granularity."));
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(window_ns));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(most_samples)
              .above_zero()
              .says("Maximum number; of more operations, only every second, fourth, … is kept."));
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
        "For allocations: how often two blocks were written and read back, in addition to the operations."));
    visit(GVB_FIELD(used_before)
              .says("Device memory of this process; null if NVML cannot report it, and for other operations."));
    visit(GVB_FIELD(used_after));
    visit(GVB_FIELD(at_ns).says("When a sample's operation began, and how long it took."));
    visit(GVB_FIELD(took_ns));
  }
};

namespace {

const Topic window_topic{
    "Windows of tenants",
    {in_session("window", measure_window)
         .says("One operation repeated from an absolute time on: what each of several tenants does at "
               "the same time.")}};

}  // namespace

}  // namespace gvb
