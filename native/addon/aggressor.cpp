// Tenants that try to take more than their share of a resource.
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
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
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
    visit(GVB_FIELD(operations).says("Operations that were seen to finish."));
    visit(GVB_FIELD(blocks).says("Blocks that the device counted for these operations."));
    visit(GVB_FIELD(marks_ns).as_array().says("When operations were seen to finish."));
    visit(GVB_FIELD(card_full).or_left_out().says(
        "Long kernels: whether nothing else could start beside them; left out if that could not be seen."));
    visit(GVB_FIELD(used_bytes).says("Peak device memory in bytes."));
    visit(GVB_FIELD(operation_bytes)
              .or_left_out()
              .says("Bytes that each operation copies; left out if it copies nothing."));
    visit(GVB_FIELD(refused).says("Refused allocations."));
    visit(GVB_FIELD(exceeded).says("Allocations that were granted above the quota; each was freed at once."));
    visit(GVB_FIELD(missing).or_null().says("Reason why it cannot run here; null: it ran."));
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
         .says("Keeps one shared resource of the device busy for a time. Rejects if the device did not do what the "
               "driver accepted."),
     at_once("attackOperations", attack_operations)
         .says("Number of operations of this process's aggressor that were seen to finish so far."),
     at_once("endAttack", end_attack_now).says("Ends this process's aggressor at once, as if its window were over.")}};

}  // namespace

}  // namespace gvb
