// Latencies of single loads from a working set.
#include "bench/chase.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<ChaseSet> : FieldsOf<ChaseSet> {
  static constexpr const char* kName = "ChaseSet";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(eighths).above_zero().says("Size of the set, in eighths of the L2 cache that the device reports."));
    visit(
        GVB_FIELD(blocks).says("Blocks that walk the set side by side, with a thread each; 0: one a multiprocessor."));
  }
};

template <>
struct Fields<ChaseRequest> : FieldsOf<ChaseRequest, ChaseSet> {
  static constexpr const char* kName = "ChaseRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(start_at_ns).says("Time of the start, on the clock of `now`; one that has passed starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says(
        "How long walks are launched, by the device's clock or the host's, whichever passes first."));
  }
};

template <>
struct Fields<ChasePassesRequest> : FieldsOf<ChasePassesRequest, ChaseSet> {
  static constexpr const char* kName = "ChasePassesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(passes).says("Through the whole set; 0: only makes it, for passes of later calls."));
  }
};

template <>
struct Fields<Chase> : FieldsOf<Chase> {
  static constexpr const char* kName = "Chase";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(l2_bytes).says("Size of the L2 cache, as the device reports it."));
    visit(GVB_FIELD(bytes).says("Size of the working set, in whole lines for every block."));
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(cycles_per_ns).says("Rate of the multiprocessors' clock in these walks; 0: there were none."));
    visit(GVB_FIELD(origin_ms).says("Time of the device's clock from which the other times count."));
    visit(GVB_FIELD(from_ns).as_array().says("Begin of each walk's first block."));
    visit(GVB_FIELD(to_ns).as_array().says("End of each walk's last block."));
    visit(GVB_FIELD(walk).as_array().says("The walk of each of the following latencies."));
    visit(GVB_FIELD(cycles).as_array().says("Mean latencies of loads that differ by a few per cent at most."));
    visit(GVB_FIELD(loads).as_array().says("How many of them there were."));
  }
};

namespace {

const Topic chase_topic{
    "Latencies of the L2 cache",
    {in_session("chase", chase_for)
         .says("Walks a working set for a time and says how long each load took. The set stays in memory, for later "
               "calls with the same size and blocks, until the session ends."),
     in_session("chasePasses", chase_passes).says("The same of one walk of so many passes, after nothing else.")}};

}  // namespace

}  // namespace gvb
