// Launches that alternate between two contexts of one process.
#include "bench/context_alternation.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<AlternationRequest> : FieldsOf<AlternationRequest> {
  static constexpr const char* kName = "AlternationRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(count).above_zero().says("Number of launches of each kind."));
  }
};

template <>
struct Fields<ContextAlternation> : FieldsOf<ContextAlternation> {
  static constexpr const char* kName = "ContextAlternation";
  static constexpr const char* kDoc = "Time from the call of cuCtxSetCurrent until the launch after it has returned.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(alternating_ns).as_array().says("Launches in a different context than the previous launch."));
    visit(GVB_FIELD(staying_ns)
              .as_array()
              .says("Launches in the same context as the previous launch, which is made current again."));
  }
};

namespace {

const Topic context_alternation_topic{"Two contexts of a process",
                                      {in_session("contextAlternation", measure_alternation)
                                           .says("Measures the host's cost of launching alternately in two contexts. "
                                                 "The second context exists only during the call.")}};

}  // namespace

}  // namespace gvb
