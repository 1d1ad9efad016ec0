// Memory use of language models: cache pages, pools, large tensors.
#include "addon/allocation_api.h"
#include "addon/topic.h"
#include "bench/llm/kv_pages.h"
#include "bench/llm/large_allocation.h"
#include "bench/llm/pool_pairs.h"

namespace gvb {

namespace {

const Choices<PageMode> kPageModes{
    "PageMode", {{PageMode::kVirtual, "cuMemCreate"}, {PageMode::kStreamOrdered, "cuMemAllocAsync"}}};

}  // namespace

template <>
struct Fields<PageRoundsRequest> : FieldsOf<PageRoundsRequest> {
  static constexpr const char* kName = "PageRoundsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(mode).one_of(kPageModes));
    visit(GVB_FIELD(pages).above_zero());
    visit(GVB_FIELD(rounds).above_zero());
    visit(GVB_FIELD(bare).says(kBareDoc));
  }
};

template <>
struct Fields<PageRounds> : FieldsOf<PageRounds> {
  static constexpr const char* kName = "PageRounds";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(page_bytes));
    visit(GVB_FIELD(commit_ns).says("Time to commit all pages of each round."));
    visit(GVB_FIELD(page_ns).says("Time to commit each page of each round."));
    visit(GVB_FIELD(create_ns).says(kCreateDoc));
    visit(GVB_FIELD(release_ns).says("Time to release all pages of each round."));
    visit(GVB_FIELD(used_before)
              .says("Device memory of this process before the rounds, with the pages of the last one, and after it; "
                    "null if NVML cannot report it."));
    visit(GVB_FIELD(used_live));
    visit(GVB_FIELD(used_after));
  }
};

template <>
struct Fields<PoolState> : FieldsOf<PoolState> {
  static constexpr const char* kName = "PoolState";
  static constexpr const char* kDoc = "State of the default pool; null for values that it does not report.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(threshold_bytes).says("Release threshold in bytes; not exact above 2^53."));
    visit(GVB_FIELD(used_bytes));
    visit(GVB_FIELD(reserved_bytes));
  }
};

template <>
struct Fields<PoolPairsRequest> : FieldsOf<PoolPairsRequest> {
  static constexpr const char* kName = "PoolPairsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(api).one_of(kAllocationApis));
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(warm_bytes).says("Size of the pool before the first pair, in bytes; 0: unchanged."));
    visit(GVB_FIELD(bare).says(kBareDoc));
  }
};

template <>
struct Fields<PoolPairs> : FieldsOf<PoolPairs> {
  static constexpr const char* kName = "PoolPairs";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(alloc_ns));
    visit(GVB_FIELD(free_ns));
    visit(GVB_FIELD(before).says("State before and after all pairs and their preparation."));
    visit(GVB_FIELD(after));
    visit(GVB_FIELD(used_before)
              .says("Device memory of this process before all of it and while the pool is warm; null if NVML cannot "
                    "report it."));
    visit(GVB_FIELD(used_warm));
  }
};

template <>
struct Fields<PoolRefusalRequest> : FieldsOf<PoolRefusalRequest> {
  static constexpr const char* kName = "PoolRefusalRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(api).one_of(kAllocationApis));
    visit(GVB_FIELD(bytes));
  }
};

template <>
struct Fields<PoolRefusal> : FieldsOf<PoolRefusal> {
  static constexpr const char* kName = "PoolRefusal";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(granted));
    visit(GVB_FIELD(name).says("The driver's name of `code`."));
    visit(GVB_FIELD(code).says("Result of the request, or of waiting for it."));
    visit(GVB_FIELD(before));
    visit(GVB_FIELD(after));
  }
};

template <>
struct Fields<LargeAllocationRequest> : FieldsOf<LargeAllocationRequest> {
  static constexpr const char* kName = "LargeAllocationRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(api).one_of(kAllocationApis));
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<LargeAllocation> : FieldsOf<LargeAllocation> {
  static constexpr const char* kName = "LargeAllocation";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(alloc_ns));
    visit(GVB_FIELD(create_ns).says(kCreateDoc));
    visit(GVB_FIELD(touch_ns).says("Time to fill the whole block, until the fill is complete."));
  }
};

template <>
struct Fields<LargeFree> : FieldsOf<LargeFree> {
  static constexpr const char* kName = "LargeFree";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(free_ns));
  }
};

namespace {

const Topic llm_memory_topic{"Memory of language models",
                             {in_session("pageRounds", measure_page_rounds)
                                  .says("Commits and releases pages in rounds. A first round is not timed."),
                              in_session("poolPairs", measure_pool_pairs), in_session("poolRefusal", ask_pool_for),
                              in_session("allocateLarge", allocate_large)
                                  .says("Allocates a block and holds it until freeLarge or the next call."),
                              in_session("freeLarge", free_large)}};

}  // namespace

}  // namespace gvb
