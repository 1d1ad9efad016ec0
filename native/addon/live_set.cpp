// Allocations and frees with changing numbers of live blocks.
#include "bench/live_set.h"

#include "addon/core_field.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<LiveSetRequest> : FieldsOf<LiveSetRequest> {
  static constexpr const char* kName = "LiveSetRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).above_zero().says("Size of a block in bytes."));
    visit(GVB_FIELD(lives).says("Live blocks of each cell, in addition to the block of the timed pair."));
    visit(GVB_FIELD(count).above_zero().says("Pairs per cell."));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(queries).says("Pointers queried for one sample of `queryNs`; 0: none."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(core).says(kCoreDoc));
  }
};

template <>
struct Fields<LiveSetCell> : FieldsOf<LiveSetCell> {
  static constexpr const char* kName = "LiveSetCell";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(live));
    visit(GVB_FIELD(alloc_ns).says("Each pair is one allocation and one free of a random live block."));
    visit(GVB_FIELD(free_ns));
    visit(GVB_FIELD(query_ns).says("Time of one cuPointerGetAttribute for a random live block."));
    visit(
        GVB_FIELD(used_before)
            .says("Device memory of this process before, with and after the cell's blocks; null if NVML cannot report "
                  "it."));
    visit(GVB_FIELD(used_live));
    visit(GVB_FIELD(used_after));
  }
};

namespace {

const Topic live_set_topic{"Sets of live blocks",
                           {in_session("liveSets", measure_live_sets)
                                .says("Times pairs of an allocation and a free with different numbers of live blocks, "
                                      "in the order of `lives`.")}};

}  // namespace

}  // namespace gvb
