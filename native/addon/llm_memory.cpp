// Memory use of language models: pages of a cache, pools, large tensors.
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
  }
};

template <>
struct Fields<PageRounds> : FieldsOf<PageRounds> {
  static constexpr const char* kName = "PageRounds";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(page_bytes));
    visit(GVB_FIELD(commit_ns).says("Time of each round, for all its pages."));
    visit(GVB_FIELD(page_ns).says("Time of each page of each round."));
    visit(GVB_FIELD(release_ns).says("Time of each round, for all its pages."));
    visit(GVB_FIELD(used_before).says("By this process, on the device; null if NVML cannot report it."));
    visit(GVB_FIELD(used_after));
  }
};

template <>
struct Fields<PoolState> : FieldsOf<PoolState> {
  static constexpr const char* kName = "PoolState";
  static constexpr const char* kDoc = "Of the default pool; null for what it does not report.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(threshold_bytes).says("Above 2^53 not exact."));
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
    visit(GVB_FIELD(warm_bytes).says("Size of the pool before the first pair; 0: unchanged."));
  }
};

template <>
struct Fields<PoolPairs> : FieldsOf<PoolPairs> {
  static constexpr const char* kName = "PoolPairs";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(alloc_ns));
    visit(GVB_FIELD(free_ns));
    visit(GVB_FIELD(before).says("Around all pairs and their preparation."));
    visit(GVB_FIELD(after));
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
    visit(GVB_FIELD(name).says("The driver's, of the code."));
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
    visit(GVB_FIELD(touch_ns).says("Filling all of it, until completion."));
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

const Topic llm_memory_topic{
    "Memory of language models",
    {in_session("pageRounds", measure_page_rounds).says("A first round is not timed."),
     in_session("poolPairs", measure_pool_pairs), in_session("poolRefusal", ask_pool_for),
     in_session("allocateLarge", allocate_large).says("Holds the block until freeLarge, or the next one."),
     in_session("freeLarge", free_large)}};

}  // namespace

}  // namespace gvb
