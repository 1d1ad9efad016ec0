// Injected faults, and their effect on a neighbour.
#include "bench/faults.h"

#include "addon/fault_fields.h"
#include "addon/fault_kinds.h"
#include "addon/topic.h"
#include "bench/verified_rounds.h"

namespace gvb {

template <>
struct Fields<FaultRequest> : FieldsOf<FaultRequest> {
  static constexpr const char* kName = "FaultRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(fault).one_of(fault_kinds()));
  }
};

template <>
struct Fields<EndlessKernel> : FieldsOf<EndlessKernel> {
  static constexpr const char* kName = "EndlessKernel";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(card_full).says(
        "Whether another kernel of the process could not begin beside it; null if that was not seen."));
  }
};

template <>
struct Fields<StormRequest> : FieldsOf<StormRequest> {
  static constexpr const char* kName = "StormRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).above_zero().says("Size of an allocation in bytes."));
    visit(GVB_FIELD(for_ms));
  }
};

template <>
struct Fields<Storm> : FieldsOf<Storm> {
  static constexpr const char* kName = "Storm";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(allocations));
  }
};

template <>
struct Fields<HoardRequest> : FieldsOf<HoardRequest> {
  static constexpr const char* kName = "HoardRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(most_bytes)
              .above_zero()
              .says("Once it holds this many bytes, it asks for more memory than any card has."));
  }
};

template <>
struct Fields<Hoard> : FieldsOf<Hoard> {
  static constexpr const char* kName = "Hoard";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Granted bytes."));
    visit(GVB_FIELD(code).says("Result of the refused allocation; 0 if none was refused."));
    visit(GVB_FIELD(name));
  }
};

template <>
struct Fields<RoundsRequest> : FieldsOf<RoundsRequest> {
  static constexpr const char* kName = "RoundsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).above_zero().says(
        "Size in bytes of the block that a round allocates, fills, reads back and frees."));
    visit(GVB_FIELD(for_ms));
  }
};

template <>
struct Fields<VerifiedRounds> : FieldsOf<VerifiedRounds> {
  static constexpr const char* kName = "VerifiedRounds";
  static constexpr const char* kDoc = "Times are on the clock of `now`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(wrong).says("Rounds with a wrong result."));
    visit(GVB_FIELD(began_ns));
    visit(GVB_FIELD(ended_ns).says("End of the last round."));
    visit(GVB_FIELD(longest_gap_ns).says("Longest time without a verified round, counted from the start."));
  }
};

namespace {

const Topic faults_topic{
    "Faults",
    {in_session("raiseFault", raise_fault)
         .says(
             "Launches a kernel that fails in a known way and waits for it. The context is lost, as after any error."),
     in_session("startEndless", start_endless)
         .says("Starts an endless kernel; it is running when this resolves. Kill the process to end it."),
     in_session("allocationStorm", allocation_storm).says("Allocates and frees repeatedly for a time."),
     in_session("hoard", hoard).says("Allocates until an allocation is refused, and frees nothing."),
     in_session("verifiedRounds", verified_rounds)
         .says("Does rounds of work and compares every result with the expected one.")}};

}  // namespace

}  // namespace gvb
