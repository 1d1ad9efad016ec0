// Memory limits: what each way to allocate is granted, and how much memory a program is told it has.
#include "addon/gpu_process_fields.h"
#include "addon/topic.h"
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
     in_session("releaseMemory", release_memory), in_session("timeRefusals", time_refusals),
     in_session("exportMemory", export_memory).says("Memory held by cuMemAlloc, for another process."),
     in_session("importMemory", import_memory).says("Held until `releaseMemory`."),
     in_session("reportedMemory", reported_memory)
         .says("What a program is told by the functions that it finds, which a layer may answer.")}};

}  // namespace

}  // namespace gvb
