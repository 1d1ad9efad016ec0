// Pairs of one call: through a layer and directly to the driver.
#include "bench/call_pair.h"

#include "addon/core_field.h"
#include "addon/pair_fields.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<PairRequest> : FieldsOf<PairRequest> {
  static constexpr const char* kName = "PairRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(batches).says(
        "Number of samples per pointer. Each is the mean of two batches, in the order A B B A."));
    visit(
        GVB_FIELD(calls).says("Maximum number of calls per batch; reduced so that two batches stay below maxBatchNs."));
    visit(GVB_FIELD(max_batch_ns));
    visit(GVB_FIELD(gap_ns).says(
        "Before each batch the host does other work for between a quarter of this time and all of it."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

namespace {

const Topic call_pair_topic{
    "Pairs of calls",
    {at_once("pairFunctions", pair_function_names).says("Function names that pairBlock accepts."),
     in_session("pairBlock", measure_pair)}};

}  // namespace

}  // namespace gvb
