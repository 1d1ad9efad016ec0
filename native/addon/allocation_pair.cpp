// Pairs of an allocation and a free: through a layer and directly to the driver.
#include "bench/allocation_pair.h"

#include "addon/core_field.h"
#include "addon/free_order.h"
#include "addon/pair_fields.h"
#include "addon/topic.h"

namespace gvb {

namespace {

constexpr const char* kCountDoc =
    "Samples of a visit: each is the mean of two allocations, and of two frees, of either way, in the order A B B A.";

}  // namespace

template <>
struct Fields<AllocationPairRequest> : FieldsOf<AllocationPairRequest> {
  static constexpr const char* kName = "AllocationPairRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).above_zero().says("Size of a block in bytes."));
    visit(GVB_FIELD(live).says("Live blocks per path, in addition to the block that is allocated and freed."));
    visit(GVB_FIELD(order).one_of(kFreeOrders));
    visit(GVB_FIELD(count).above_zero().says(
        "Samples per visit. Each is the mean of two allocations, and of two frees, per path, in the order A B B A."));
    visit(GVB_FIELD(warmup).says("Untimed samples before each visit's timed ones."));
    visit(GVB_FIELD(visits).above_zero().says("Number of visits, each on another processor."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

template <>
struct Fields<AllocationPairs> : FieldsOf<AllocationPairs> {
  static constexpr const char* kName = "AllocationPairs";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(allocation));
    visit(GVB_FIELD(free));
  }
};

namespace {

const Topic allocation_pair_topic{
    "Pairs of allocations",
    {in_session("allocationPairs", measure_allocation_pairs)
         .says("Times cuMemAlloc and cuMemFree alternately through the program's pointers and the driver's own.")}};

}  // namespace

}  // namespace gvb
