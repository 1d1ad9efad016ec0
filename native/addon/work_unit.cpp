// The fixed unit of work.
#include "bench/work_unit.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<WorkRequest> : FieldsOf<WorkRequest> {
  static constexpr const char* kName = "WorkRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(warmup_ms));
    visit(GVB_FIELD(window_ms).above_zero());
  }
};

template <>
struct Fields<Work> : FieldsOf<Work> {
  static constexpr const char* kName = "Work";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unit_ns).says("Duration of each timed unit, in order."));
    visit(GVB_FIELD(untimed_units)
              .says("Number of random units in which the allocated blocks were written and read back. They are "
                    "verified like all others but not timed."));
  }
};

namespace {

const Topic work_unit_topic{
    "Units of work",
    {in_session("work", measure_work)
         .says("Repeats the fixed unit of work of OH-010. Rejects if a unit's results are wrong.")}};

}  // namespace

}  // namespace gvb
