// Memory limits: what each way to allocate is granted, and how much memory a program is told it has.
#include "addon/gpu_process_fields.h"
#include "addon/topic.h"
#include "bench/largest_block.h"
#include "bench/memory_churn.h"
#include "bench/memory_fill.h"
#include "bench/reported_memory.h"

namespace gvb {

namespace {

const Choices<MemoryPath> kMemoryPaths{"MemoryPath",
                                       {{MemoryPath::kMemAlloc, "cuMemAlloc_v2"},
                                        {MemoryPath::kMemAllocPitch, "cuMemAllocPitch_v2"},
                                        {MemoryPath::kMemAllocManaged, "cuMemAllocManaged"},
                                        {MemoryPath::kMemCreate, "cuMemCreate"},
                                        {MemoryPath::kMemCreateReleased, "cuMemCreate, handle released"},
                                        {MemoryPath::kMemAllocAsync, "cuMemAllocAsync"},
                                        {MemoryPath::kMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync"},
                                        {MemoryPath::kArray, "cuArrayCreate_v2"},
                                        {MemoryPath::kArray3D, "cuArray3DCreate_v2"},
                                        {MemoryPath::kMipmappedArray, "cuMipmappedArrayCreate"},
                                        {MemoryPath::kGraphNode, "graph memory node"},
                                        {MemoryPath::kImportedHandle, "imported shareable handle"},
                                        {MemoryPath::kModuleGlobal, "module global"},
                                        {MemoryPath::kSmallBlocks, "many small blocks"},
                                        {MemoryPath::kHostAlloc, "pinned host memory"}}};

const Choices<FillEnd> kFillEnds{"",
                                 {{FillEnd::kRefused, "refused"},
                                  {FillEnd::kEnough, "enough"},
                                  {FillEnd::kBlocks, "blocks"},
                                  {FillEnd::kSpare, "spare"}}};

}  // namespace

template <>
struct Fields<MemoryFillRequest> : FieldsOf<MemoryFillRequest> {
  static constexpr const char* kName = "MemoryFillRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kMemoryPaths));
    visit(GVB_FIELD(most_bytes).says("Maximum for this call."));
    visit(GVB_FIELD(first_bytes).above_zero().says("Size of the first block; halved if it is refused."));
    visit(GVB_FIELD(smallest_bytes).above_zero());
    visit(GVB_FIELD(most_blocks).above_zero());
    visit(GVB_FIELD(spare_bytes).says("Left free on the card."));
  }
};

template <>
struct Fields<Refusal> : FieldsOf<Refusal> {
  static constexpr const char* kName = "Refusal";
  static constexpr const char* kDoc = "A code that a call answered, and the smallest request that it met.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(call));
    visit(GVB_FIELD(bytes));
  }
};

template <>
struct Fields<MemoryFill> : FieldsOf<MemoryFill> {
  static constexpr const char* kName = "MemoryFill";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(granted_bytes));
    visit(GVB_FIELD(blocks));
    visit(
        GVB_FIELD(end).one_of(kFillEnds).says("`enough` and `blocks`: as the request bounds it; `spare`: the card "
                                              "has no more to give away."));
    visit(GVB_FIELD(refusals));
    visit(GVB_FIELD(no_memory).or_null().says(
        "Why the granted allocation has no memory of its own; null if it contains what was written to it."));
    visit(GVB_FIELD(took_ns));
  }
};

template <>
struct Fields<MemoryReleased> : FieldsOf<MemoryReleased> {
  static constexpr const char* kName = "MemoryReleased";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(again).says("The code of an allocation like the latest one, after that was freed."));
    visit(GVB_FIELD(failures).says("Errors of frees."));
  }
};

template <>
struct Fields<MemoryChurnRequest> : FieldsOf<MemoryChurnRequest> {
  static constexpr const char* kName = "MemoryChurnRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kMemoryPaths));
    visit(GVB_FIELD(fill_bytes).says("Of all blocks, before any is freed."));
    visit(GVB_FIELD(smallest_bytes).above_zero().says("Of a block, whose size is log-uniform."));
    visit(GVB_FIELD(largest_bytes).above_zero());
    visit(GVB_FIELD(turnover).says("Further allocations and frees at random."));
    visit(GVB_FIELD(keep_bytes).says("In the end random blocks are freed until no more than this is held."));
    visit(GVB_FIELD(compact).says("Only what is left in the end is allocated, and nothing is freed."));
    visit(GVB_FIELD(most_ns).above_zero().says("After which it ends wherever it is."));
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<MemoryChurn> : FieldsOf<MemoryChurn> {
  static constexpr const char* kName = "MemoryChurn";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(blocks).says("That are held in the end."));
    visit(GVB_FIELD(held_bytes));
    visit(GVB_FIELD(operations).says("Allocations and frees."));
    visit(GVB_FIELD(took_ns));
    visit(GVB_FIELD(timed_out));
    visit(GVB_FIELD(refusals));
    visit(GVB_FIELD(no_memory).or_null());
  }
};

template <>
struct Fields<LargestBlockRequest> : FieldsOf<LargestBlockRequest> {
  static constexpr const char* kName = "LargestBlockRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kMemoryPaths));
    visit(GVB_FIELD(free_bytes).says("In which it is looked for."));
    visit(GVB_FIELD(beyond_bytes).says("Tried first, and expected to be refused; 0: nothing is."));
    visit(GVB_FIELD(granule_bytes).above_zero());
    visit(GVB_FIELD(most_probes).above_zero());
    visit(GVB_FIELD(most_ns).above_zero());
  }
};

template <>
struct Fields<LargestBlock> : FieldsOf<LargestBlock> {
  static constexpr const char* kName = "LargestBlock";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("0: not even a granule."));
    visit(GVB_FIELD(refused_bytes).says("The smallest request that was refused; null: none was."));
    visit(GVB_FIELD(probes));
    visit(GVB_FIELD(decided).says("To the granule, before the limits of probes and time."));
    visit(GVB_FIELD(again).says("It was granted a second time."));
    visit(GVB_FIELD(beyond).says("What lies beyond the free memory was granted."));
    visit(GVB_FIELD(no_memory).or_null());
    visit(GVB_FIELD(refusal).or_null().says("The code of the last one."));
  }
};

template <>
struct Fields<RefusalsRequest> : FieldsOf<RefusalsRequest> {
  static constexpr const char* kName = "RefusalsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kMemoryPaths));
    visit(GVB_FIELD(bytes).above_zero());
    visit(GVB_FIELD(count).above_zero());
    visit(GVB_FIELD(most_ns).above_zero().says("After the first 20, no further one starts once this time has passed."));
  }
};

template <>
struct Fields<OtherCode> : FieldsOf<OtherCode> {
  static constexpr const char* kName = "OtherCode";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(count));
  }
};

template <>
struct Fields<Refusals> : FieldsOf<Refusals> {
  static constexpr const char* kName = "Refusals";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(refused_ns).as_array().says("Time of calls that returned CUDA_ERROR_OUT_OF_MEMORY."));
    visit(GVB_FIELD(granted).says("Each was freed at once; some of them end the attempt."));
    visit(GVB_FIELD(others));
  }
};

template <>
struct Fields<ExportedMemory> : FieldsOf<ExportedMemory> {
  static constexpr const char* kName = "ExportedMemory";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(handles));
    visit(GVB_FIELD(bytes));
  }
};

template <>
struct Fields<ImportRequest> : FieldsOf<ImportRequest> {
  static constexpr const char* kName = "ImportRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(handles));
  }
};

template <>
struct Fields<ReportedSizes> : FieldsOf<ReportedSizes> {
  static constexpr const char* kName = "ReportedSizes";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(source));
    visit(GVB_FIELD(code).says("0 if it succeeded."));
    visit(GVB_FIELD(total_bytes));
    visit(GVB_FIELD(used_bytes));
    visit(GVB_FIELD(free_bytes));
  }
};

template <>
struct Fields<ReportedMemory> : FieldsOf<ReportedMemory> {
  static constexpr const char* kName = "ReportedMemory";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(sizes));
    visit(GVB_FIELD(processes));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(bare_multiprocessors).says("As reported by the driver itself."));
  }
};

namespace {

const Topic memory_paths_topic{
    "Memory limits",
    {in_session("fillMemory", fill_memory).says("Held until `releaseMemory`."),
     in_session("churnMemory", churn_memory).says("Blocks of random sizes. Held until `releaseMemory`."),
     in_session("largestBlock", find_largest_block), in_session("releaseMemory", release_memory),
     in_session("timeRefusals", time_refusals),
     in_session("exportMemory", export_memory).says("Memory held by cuMemAlloc, for another process."),
     in_session("importMemory", import_memory).says("Held until `releaseMemory`."),
     in_session("reportedMemory", reported_memory)
         .says("What a program is told by the functions that it finds, which a layer may answer.")}};

}  // namespace

}  // namespace gvb
