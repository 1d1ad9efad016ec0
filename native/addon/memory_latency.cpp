// Allocations and frees.
#include "bench/memory_latency.h"

#include "addon/allocation_api.h"
#include "addon/free_order.h"
#include "addon/topic.h"

namespace gvb {

namespace {

constexpr const char* kBytesDoc = "Size of a block in bytes; 0: the allocation granularity.";

}  // namespace

template <>
struct Fields<AllocationRequest> : FieldsOf<AllocationRequest> {
  static constexpr const char* kName = "AllocationRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(api).one_of(kAllocationApis));
    visit(GVB_FIELD(bytes).says(kBytesDoc));
    visit(GVB_FIELD(live));
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(bare).says(kBareDoc));
  }
};

template <>
struct Fields<AllocationBlock> : FieldsOf<AllocationBlock> {
  static constexpr const char* kName = "AllocationBlock";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(live));
    visit(GVB_FIELD(alloc_ns));
    visit(GVB_FIELD(create_ns).says(kCreateDoc));
    visit(GVB_FIELD(free_ns));
    visit(
        GVB_FIELD(used_before)
            .says(
                "Device memory of this process before the live blocks and with them; null if NVML cannot report it."));
    visit(GVB_FIELD(used_live));
  }
};

template <>
struct Fields<FreeRequest> : FieldsOf<FreeRequest> {
  static constexpr const char* kName = "FreeRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says(kBytesDoc));
    visit(GVB_FIELD(live).above_zero());
    visit(GVB_FIELD(order).one_of(kFreeOrders));
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<FreeBlock> : FieldsOf<FreeBlock> {
  static constexpr const char* kName = "FreeBlock";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(live));
    visit(GVB_FIELD(free_ns));
    visit(GVB_FIELD(used_before)
              .says("Device memory of this process before and after the frees; null if NVML cannot report it."));
    visit(GVB_FIELD(used_after));
  }
};

template <>
struct Fields<DriverCode> : FieldsOf<DriverCode> {
  static constexpr const char* kName = "DriverCode";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code));
    visit(GVB_FIELD(name));
  }
};

namespace {

const Topic memory_latency_topic{
    "Allocations and frees",
    {in_session("allocationBlock", measure_allocations), in_session("freeBlock", measure_frees),
     in_session("doubleFree", measure_double_free).says("Result code of freeing a pointer a second time.")}};

}  // namespace

}  // namespace gvb
