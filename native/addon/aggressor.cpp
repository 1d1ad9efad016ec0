// Aggressors.
#include "bench/aggressor.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<AggressorKind> kAggressors{"AggressorKind",
                                         {{AggressorKind::kLongKernels, "longKernels"},
                                          {AggressorKind::kBlockFill, "blockFill"},
                                          {AggressorKind::kDramStream, "dramStream"},
                                          {AggressorKind::kL2Thrash, "l2Thrash"},
                                          {AggressorKind::kTlbThrash, "tlbThrash"},
                                          {AggressorKind::kIssueSlots, "issueSlots"},
                                          {AggressorKind::kCopyToDevice, "copyToDevice"},
                                          {AggressorKind::kCopyToHost, "copyToHost"},
                                          {AggressorKind::kLaunchStorm, "launchStorm"},
                                          {AggressorKind::kAllocStorm, "allocStorm"},
                                          {AggressorKind::kContextStorm, "contextStorm"},
                                          {AggressorKind::kGraphStorm, "graphStorm"}}};

}  // namespace

template <>
struct Fields<AggressorRequest> : FieldsOf<AggressorRequest> {
  static constexpr const char* kName = "AggressorRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kind).one_of(kAggressors));
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(window_ns).above_zero());
    visit(GVB_FIELD(quota_bytes).says("Memory quota that an allocation storm tries to exceed; 0: no quota."));
  }
};

template <>
struct Fields<Aggression> : FieldsOf<Aggression> {
  static constexpr const char* kName = "Aggression";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(operations).says("That were seen to finish."));
    visit(GVB_FIELD(blocks).says("Counted by the device for them."));
    visit(GVB_FIELD(marks_ns).as_array().says("When operations were seen to finish."));
    visit(GVB_FIELD(used_bytes).says("Peak device memory."));
    visit(GVB_FIELD(operation_bytes).or_left_out().says("Copied by each operation; left out: it does not copy."));
    visit(GVB_FIELD(refused).says("Allocations that were refused."));
    visit(GVB_FIELD(exceeded).says("Allocations above the quota that were granted, and given back at once."));
    visit(GVB_FIELD(missing).or_null().says("Why it cannot run here; null: it ran."));
  }
};

namespace {

Nothing end_attack_now() {
  end_attack();
  return {};
}

const Topic aggressor_topic{
    "Aggressors",
    {in_session("aggressor", attack)
         .says("Keeps one shared resource of the device busy for a time; rejects where the device did "
               "not do what the driver accepted."),
     at_once("attackOperations", attack_operations)
         .says("Operations of the aggressor of this process that were seen to finish so far."),
     at_once("endAttack", end_attack_now)
         .says("The aggressor that runs in this process ends at once, as at the end of its window.")}};

}  // namespace

}  // namespace gvb
