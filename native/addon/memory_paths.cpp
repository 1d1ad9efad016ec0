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
    visit(GVB_FIELD(most_bytes).says("Maximum number of bytes to allocate in this call."));
    visit(GVB_FIELD(first_bytes).above_zero().says("Size of the first block in bytes; halved after each refusal."));
    visit(GVB_FIELD(smallest_bytes).above_zero());
    visit(GVB_FIELD(most_blocks).above_zero());
    visit(GVB_FIELD(spare_bytes).says("Bytes to leave free on the card. 0: until the driver refuses."));
  }
};

template <>
struct Fields<Refusal> : FieldsOf<Refusal> {
  static constexpr const char* kName = "Refusal";
  static constexpr const char* kDoc = "Error code of a call, and the smallest request that it refused.";
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
        GVB_FIELD(end).one_of(kFillEnds).says("`enough` and `blocks`: the limits of the request were reached; `spare`: "
                                              "the card has no more memory to give away."));
    visit(GVB_FIELD(refusals));
    visit(GVB_FIELD(no_memory).or_null().says(
        "Reason why the granted allocation is not memory of its own; null if it holds what was written to it."));
    visit(GVB_FIELD(took_ns));
  }
};

template <>
struct Fields<MemoryReleased> : FieldsOf<MemoryReleased> {
  static constexpr const char* kName = "MemoryReleased";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(again).says(
        "Result of repeating the latest allocation after it was freed; null if nothing was held."));
    visit(GVB_FIELD(failures).says("Errors of frees."));
  }
};

template <>
struct Fields<MemoryChurnRequest> : FieldsOf<MemoryChurnRequest> {
  static constexpr const char* kName = "MemoryChurnRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kMemoryPaths));
    visit(GVB_FIELD(fill_bytes).says("Total size of all blocks before any is freed, in bytes."));
    visit(GVB_FIELD(smallest_bytes).above_zero().says("Smallest size of a block in bytes; sizes are log-uniform."));
    visit(GVB_FIELD(largest_bytes).above_zero());
    visit(GVB_FIELD(turnover).says("Number of further random allocations and frees."));
    visit(
        GVB_FIELD(keep_bytes).says("At the end, random blocks are freed until no more than this many bytes are held."));
    visit(GVB_FIELD(compact).says("Allocates only the blocks that would be left at the end, and frees nothing."));
    visit(GVB_FIELD(most_ns).above_zero().says("Time limit; the churn stops wherever it is."));
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<MemoryChurn> : FieldsOf<MemoryChurn> {
  static constexpr const char* kName = "MemoryChurn";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(blocks).says("Blocks that are held at the end."));
    visit(GVB_FIELD(held_bytes));
    visit(GVB_FIELD(operations).says("Number of allocations and frees."));
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
    visit(GVB_FIELD(free_bytes).says("Free memory in which to search, in bytes."));
    visit(GVB_FIELD(beyond_bytes).says("Size of a first request that is expected to be refused; 0: no such request."));
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
    visit(GVB_FIELD(bytes).says("Size of the largest block in bytes; 0: not even a granule was granted."));
    visit(GVB_FIELD(refused_bytes).says("Size of the smallest refused request in bytes; null: none was refused."));
    visit(GVB_FIELD(probes));
    visit(GVB_FIELD(decided).says(
        "Whether the size is known to the granule; false if the limit on probes or time ended the search."));
    visit(GVB_FIELD(again).says("Whether a block of this size was granted a second time."));
    visit(GVB_FIELD(beyond).says("Whether the request beyond the free memory was granted."));
    visit(GVB_FIELD(no_memory).or_null());
    visit(GVB_FIELD(refusal).or_null().says("Error code of the last refusal."));
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
    visit(GVB_FIELD(most_ns).above_zero().says(
        "Time after which no further request starts; the first 20 are always made."));
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
    visit(GVB_FIELD(refused_ns).as_array().says("Durations of the calls that returned CUDA_ERROR_OUT_OF_MEMORY."));
    visit(GVB_FIELD(granted).says(
        "Number of granted requests; each was freed at once. After several of them the measurement stops."));
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
    visit(GVB_FIELD(code).says("Result of the call; 0: success."));
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
    visit(GVB_FIELD(bare_uuid).says("UUID of the GPU, as the driver itself reports it."));
    visit(GVB_FIELD(uuids).says("UUIDs of the GPUs that NVML shows to the process; null without NVML."));
    visit(GVB_FIELD(processes));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(bare_multiprocessors).says("Number that the driver itself reports."));
  }
};

namespace {

const Topic memory_paths_topic{
    "Memory limits",
    {in_session("fillMemory", fill_memory).says("Allocates memory on one path and holds it until `releaseMemory`."),
     in_session("churnMemory", churn_memory)
         .says("Allocates and frees blocks of random sizes. Holds what is left until `releaseMemory`."),
     in_session("largestBlock", find_largest_block), in_session("releaseMemory", release_memory),
     in_session("timeRefusals", time_refusals),
     in_session("exportMemory", export_memory).says("Exports the memory held by cuMemAlloc for another process."),
     in_session("importMemory", import_memory)
         .says("Maps memory that another process exported and holds it until `releaseMemory`."),
     in_session("reportedMemory", reported_memory)
         .says("Memory as reported by the functions that a program finds; a layer may answer them.")}};

}  // namespace

}  // namespace gvb
