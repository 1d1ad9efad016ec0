// Two contexts of one process, in turn.
#include "bench/context_alternation.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<AlternationRequest> : FieldsOf<AlternationRequest> {
  static constexpr const char* kName = "AlternationRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(count).above_zero().says("Launches of each kind."));
  }
};

template <>
struct Fields<ContextAlternation> : FieldsOf<ContextAlternation> {
  static constexpr const char* kName = "ContextAlternation";
  static constexpr const char* kDoc = "From cuCtxSetCurrent to the return of the launch behind it.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(alternating_ns).as_array().says("In the other context than the launch before."));
    visit(GVB_FIELD(staying_ns).as_array().says("In the same one, which is made current again."));
  }
};

namespace {

const Topic context_alternation_topic{
    "Two contexts of a process",
    {in_session("contextAlternation", measure_alternation)
         .says("What the host pays to launch in two contexts in turn; the second one is made for as long.")}};

}  // namespace

}  // namespace gvb
