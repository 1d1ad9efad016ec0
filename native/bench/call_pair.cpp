#include "bench/call_pair.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include "base/wait.h"
#include "bench/block_counter.h"
#include "bench/kernel_chain.h"
#include "bench/library_kernel.h"
#include "bench/on_core.h"
#include "driver/code_owner.h"

namespace gvb {

using abi::CUresult;

namespace {

// Work queued by launches and event records is waited for, untimed, so that the queue never fills and blocks a call.
constexpr unsigned kQueuedCalls = 64;

// Arguments of the calls: all valid, all idle.
struct Arguments {
  explicit Arguments(const DeviceSession& session)
      : device(session.device),
        context(session.context.get()),
        stream_owner(make_stream(session.cuda)),
        event_owner(make_event(session.cuda)),
        page(session.cuda, 4096),
        kernel(session.module.function("gvb_count")),
        stream(stream_owner.get()),
        event(event_owner.get()),
        host(page.host()),
        launch{1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0},
        node{kernel, 1, 1, 1, 32, 1, 1, 0, parameters, nullptr, nullptr, nullptr},
        libcuda(dlopen(session.driver.libcuda_path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {}
  ~Arguments() {
    if (libcuda) dlclose(libcuda);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  const abi::CUdevice device;
  const abi::CUcontext context;
  const Stream stream_owner;
  const Event event_owner;
  const MappedMemory page;
  const abi::CUfunction kernel;
  const abi::CUstream stream;
  const abi::CUevent event;
  void* const host;
  const abi::CUlaunchConfig launch;
  const abi::CUDA_KERNEL_NODE_PARAMS_v2 node;
  void* const libcuda;
  abi::CUdeviceptr memory = 0, count = 0;  // of this block
  void* parameters[1] = {&count};
  // Made for the calls that need them.
  std::optional<KernelChain> graph;  // of this block
  std::optional<LibraryKernel> library;
  abi::CUkernel library_kernel() const { return library->get(); }
  abi::CUgraphExec executable() const { return graph->executable(); }

  // A matrix of 64 x 64 halves in `memory`.
  uint64_t sizes[2] = {64, 64}, strides[1] = {128};
  unsigned box[2] = {64, 64}, steps[2] = {1, 1};
  abi::CUtensorMap tensor_map{};
  abi::CUpointer_attribute wanted[1] = {abi::CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* found[1] = {&word};

  // Outputs of the calls.
  int number = 0, other_number = 0;
  unsigned word = 0;
  unsigned long long wide = 0;
  size_t size = 0, other_size = 0;
  const char* text = nullptr;
  void* pointer = nullptr;
  std::array<char, 256> name{};
  abi::CUcontext out_context = nullptr;
  abi::CUdevice out_device = 0;
  abi::CUdeviceptr out_memory = 0;
  abi::CUfunction out_function = nullptr;
  abi::CUmemoryPool pool = nullptr;
  abi::CUuuid uuid{};
  abi::CUfunc_cache cache{};
  abi::CUmoduleLoadingMode loading{};
  abi::CUstreamCaptureStatus capture{};
  abi::CUdriverProcAddressQueryResult query{};
};

struct Batch {
  int64_t took_ns;  // for all calls
  CUresult codes;   // all codes, combined by or
};
using RunBatch = Batch (*)(void* function, Arguments& a, unsigned calls);

struct PairedCall {
  const char* name;
  RunBatch run;
  bool queues_work;
};

// Inlined into each call's own function, so that the loop contains only the call.
template <class Call>
[[gnu::always_inline]] inline Batch timed(unsigned calls, const Call& call) {
  CUresult codes = abi::CUDA_SUCCESS;
  const int64_t before = now_ns();
  for (unsigned i = 0; i < calls; ++i) codes |= call();
  return {now_ns() - before, codes};
}

// clang-format off
#define GVB_PAIR(function, queues_work, ...)                                                \
  {#function,                                                                               \
   [](void* pointer, [[maybe_unused]] Arguments& a, unsigned calls) {                       \
     const auto call = reinterpret_cast<decltype(CudaApi::function)>(pointer);              \
     return timed(calls, [&] { return call(__VA_ARGS__); });                                \
   },                                                                                       \
   queues_work}

constexpr PairedCall kPairedCalls[] = {
    GVB_PAIR(cuDriverGetVersion, false, &a.number),
    GVB_PAIR(cuGetErrorName, false, abi::CUDA_ERROR_OUT_OF_MEMORY, &a.text),
    GVB_PAIR(cuGetErrorString, false, abi::CUDA_ERROR_OUT_OF_MEMORY, &a.text),
    GVB_PAIR(cuGetProcAddress_v2, false, "cuMemGetInfo", &a.pointer, 3020, abi::CU_GET_PROC_ADDRESS_DEFAULT, &a.query),
    GVB_PAIR(cuDeviceGet, false, &a.out_device, 0),
    GVB_PAIR(cuDeviceGetCount, false, &a.number),
    GVB_PAIR(cuDeviceGetName, false, a.name.data(), static_cast<int>(a.name.size()), a.device),
    GVB_PAIR(cuDeviceGetUuid_v2, false, &a.uuid, a.device),
    GVB_PAIR(cuDeviceTotalMem_v2, false, &a.size, a.device),
    GVB_PAIR(cuDeviceGetAttribute, false, &a.number, abi::CU_DEVICE_ATTRIBUTE_WARP_SIZE, a.device),
    GVB_PAIR(cuDeviceGetPCIBusId, false, a.name.data(), static_cast<int>(a.name.size()), a.device),
    GVB_PAIR(cuDeviceGetDefaultMemPool, false, &a.pool, a.device),
    GVB_PAIR(cuDevicePrimaryCtxGetState, false, a.device, &a.word, &a.number),
    GVB_PAIR(cuCtxGetCurrent, false, &a.out_context),
    GVB_PAIR(cuCtxSetCurrent, false, a.context),
    GVB_PAIR(cuCtxGetDevice, false, &a.out_device),
    GVB_PAIR(cuCtxGetDevice_v2, false, &a.out_device, nullptr),
    GVB_PAIR(cuCtxGetFlags, false, &a.word),
    GVB_PAIR(cuCtxGetApiVersion, false, a.context, &a.word),
    GVB_PAIR(cuCtxGetLimit, false, &a.size, abi::CU_LIMIT_STACK_SIZE),
    GVB_PAIR(cuCtxGetCacheConfig, false, &a.cache),
    GVB_PAIR(cuCtxGetStreamPriorityRange, false, &a.number, &a.other_number),
    GVB_PAIR(cuCtxGetId, false, a.context, &a.wide),
    GVB_PAIR(cuCtxSynchronize, false),
    GVB_PAIR(cuModuleGetLoadingMode, false, &a.loading),
    GVB_PAIR(cuFuncGetAttribute, false, &a.number, abi::CU_FUNC_ATTRIBUTE_NUM_REGS, a.kernel),
    GVB_PAIR(cuKernelGetFunction, false, &a.out_function, a.library_kernel()),
    GVB_PAIR(cuKernelGetAttribute, false, &a.number, abi::CU_FUNC_ATTRIBUTE_NUM_REGS, a.library_kernel(), a.device),
    GVB_PAIR(cuKernelSetAttribute, false, abi::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, a.library_kernel(), a.device),
    GVB_PAIR(cuTensorMapEncodeTiled, false, &a.tensor_map, abi::CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(a.memory), a.sizes, a.strides, a.box, a.steps, abi::CU_TENSOR_MAP_INTERLEAVE_NONE, abi::CU_TENSOR_MAP_SWIZZLE_128B, abi::CU_TENSOR_MAP_L2_PROMOTION_L2_256B, abi::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
    GVB_PAIR(cuOccupancyMaxActiveBlocksPerMultiprocessor, false, &a.number, a.kernel, 256, 0),
    GVB_PAIR(cuMemGetInfo_v2, false, &a.size, &a.other_size),
    GVB_PAIR(cuMemGetAddressRange_v2, false, &a.out_memory, &a.size, a.memory),
    GVB_PAIR(cuMemHostGetDevicePointer_v2, false, &a.out_memory, a.host, 0),
    GVB_PAIR(cuMemHostGetFlags, false, &a.word, a.host),
    GVB_PAIR(cuPointerGetAttribute, false, &a.number, abi::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a.memory),
    GVB_PAIR(cuPointerGetAttributes, false, 1, a.wanted, a.found, a.memory),
    GVB_PAIR(cuMemsetD8Async, true, a.memory, 0, 64, a.stream),
    GVB_PAIR(cuMemcpyDtoHAsync_v2, true, a.host, a.memory, 8, a.stream),
    GVB_PAIR(cuStreamQuery, false, a.stream),
    GVB_PAIR(cuStreamSynchronize, false, a.stream),
    GVB_PAIR(cuStreamGetFlags, false, a.stream, &a.word),
    GVB_PAIR(cuStreamGetPriority, false, a.stream, &a.number),
    GVB_PAIR(cuStreamGetId, false, a.stream, &a.wide),
    GVB_PAIR(cuStreamIsCapturing, false, a.stream, &a.capture),
    GVB_PAIR(cuStreamWaitEvent, true, a.stream, a.event, 0),
    GVB_PAIR(cuEventQuery, false, a.event),
    GVB_PAIR(cuEventSynchronize, false, a.event),
    GVB_PAIR(cuEventRecord, true, a.event, a.stream),
    GVB_PAIR(cuLaunchKernel, true, a.kernel, 1, 1, 1, 32, 1, 1, 0, a.stream, a.parameters, nullptr),
    GVB_PAIR(cuLaunchKernelEx, true, &a.launch, a.kernel, a.parameters, nullptr),
    GVB_PAIR(cuGraphLaunch, true, a.executable(), a.stream),
    GVB_PAIR(cuGraphExecKernelNodeSetParams_v2, false, a.executable(), a.graph->node(), &a.node),
};
// clang-format on

#undef GVB_PAIR

// Not a driver function, but every interposer of the driver intercepts it first.
constexpr PairedCall kDlsym = {
    "dlsym",
    [](void* pointer, Arguments& a, unsigned calls) {
      const auto look_up = reinterpret_cast<DlsymFunction>(pointer);
      return timed(calls, [&] { return static_cast<CUresult>(look_up(a.libcuda, "cuMemGetInfo_v2") == nullptr); });
    },
    false};

const PairedCall& find_call(const std::string& name) {
  if (name == kDlsym.name) return kDlsym;
  const auto* found = std::find_if(std::begin(kPairedCalls), std::end(kPairedCalls),
                                   [&](const PairedCall& call) { return name == call.name; });
  if (found == std::end(kPairedCalls))
    throw Failure(FailureKind::kFunctionMissing, name + " is not among the calls this measurement knows.");
  return *found;
}

PairedPointers pointers_of(DeviceSession& session, const std::string& name) {
  if (name != kDlsym.name) return paired_pointers(session, name);
  void* given = reinterpret_cast<void*>(static_cast<DlsymFunction>(dlsym));
  void* own = reinterpret_cast<void*>(libc_dlsym());
  // A program at a fixed address may have an entry of its own that leads to libc's.
  const std::string owner = owner_of(given);
  return {given, own, owner != owner_of(own) && owner != kProgram};
}

bool starts_with(const std::string& text, const char* beginning) { return text.rfind(beginning, 0) == 0; }

class Batches {
  static constexpr size_t kBytes = 1 << 20;

 public:
  Batches(DeviceSession& session, const PairedCall& call)
      : session_(session),
        call_(call),
        arguments_(session.kept<Arguments>()),
        memory_(make_memory(session.cuda, kBytes)),
        counters_{BlockCounter(session.cuda), BlockCounter(session.cuda)} {
    arguments_.memory = memory_.get();
    arguments_.count = counters_[0].device();
    const std::string name = call.name;
    if (starts_with(name, "cuGraph"))
      arguments_.graph.emplace(session.cuda, arguments_.kernel, ChainShape{1, 32}, arguments_.parameters);
    if (starts_with(name, "cuKernel") && !arguments_.library) arguments_.library.emplace(session.cuda, "gvb_count");
  }

  // The first call through a pointer costs more than the others, so it is not timed: otherwise the cost per call would
  // depend on the batch length.
  double per_call(void* function, unsigned calls) {
    if (moves_data()) prepare_data();
    if (sets_parameters()) arguments_.count = counters_[which_ ^= 1].device();
    CUresult codes = abi::CUDA_SUCCESS;
    if (calls > 1) codes = call_.run(function, arguments_, 1).codes;
    made_ += calls + (calls > 1 ? 1 : 0);
    const Batch batch = call_.run(function, arguments_, calls);
    session_.cuda.check(codes | batch.codes, call_.name, "making it in a batch");
    if (call_.queues_work) GVB_CALL(session_.cuda, "draining a batch", cuStreamSynchronize, arguments_.stream);
    if (moves_data()) check_data();
    if (sets_parameters()) check_parameters();
    return static_cast<double>(batch.took_ns) / calls;
  }

  // Checks that every launch ran, through either pointer.
  void check() const {
    const std::string name = call_.name;
    if (starts_with(name, "cuLaunchKernel") || name == "cuGraphLaunch") counters_[0].check(made_, call_.name);
  }

 private:
  bool copies() const { return call_.name == std::string("cuMemcpyDtoHAsync_v2"); }
  bool moves_data() const { return copies() || call_.name == std::string("cuMemsetD8Async"); }

  // What a copy has to bring, or a fill has to overwrite: other words before each batch.
  void prepare_data() {
    data_.fill(++mark_);
    GVB_CALL(session_.cuda, "writing words before a batch", cuMemcpyHtoD_v2, arguments_.memory, data_.data(),
             sizeof data_);
    GVB_CALL(session_.cuda, "writing words before a batch", cuCtxSynchronize);
  }

  void check_data() {
    if (copies() ? arguments_.page.load<uint64_t>() == data_[0] : filled()) return;
    throw Failure(FailureKind::kInvalidResult, std::string("a call reported success without doing its work: ") +
                                                   call_.name + (copies() ? " copied nothing." : " filled nothing."));
  }

  bool filled() {
    GVB_CALL(session_.cuda, "reading words after a batch", cuMemcpyDtoH_v2, data_.data(), arguments_.memory,
             sizeof data_);
    return std::all_of(data_.begin(), data_.end(), [](uint64_t word) { return word == 0; });
  }

  bool sets_parameters() const { return call_.name == std::string("cuGraphExecKernelNodeSetParams_v2"); }

  // A launch of the graph counts where the parameters say that were set last.
  void check_parameters() {
    const uint64_t before = counters_[which_].ran();
    GVB_CALL(session_.cuda, "launching a graph after a batch", cuGraphLaunch, arguments_.executable(),
             arguments_.stream);
    if (counters_[which_].ran() > before) return;
    throw Failure(FailureKind::kInvalidResult,
                  std::string("a call reported success without doing its work: ") + call_.name + " set no parameters.");
  }

  DeviceSession& session_;
  const PairedCall& call_;
  Arguments& arguments_;
  const DeviceMemory memory_;
  std::array<uint64_t, 8> data_{};  // as many bytes as a fill overwrites
  uint64_t mark_ = 0;
  const std::array<BlockCounter, 2> counters_;  // the second only for parameters that alternate
  unsigned which_ = 0;
  uint64_t made_ = 0;
};

}  // namespace

std::vector<std::string> pair_function_names() {
  std::vector<std::string> names;
  for (const PairedCall& call : kPairedCalls) names.emplace_back(call.name);
  names.emplace_back(kDlsym.name);
  return names;
}

PairBlock measure_pair(DeviceSession& session, const PairRequest& request) {
  const PairedCall& call = find_call(request.name);
  const PairedPointers pointers = pointers_of(session, request.name);
  Batches batches(session, call);
  const OnCore core(request.core);
  PairBlock block(pointers);
  block.calls = request.calls;
  if (call.queues_work) block.calls = std::min(block.calls, kQueuedCalls);

  // The first calls are warm-up; the slower of the two pointers then sets the batch length.
  double dearest = 1;
  for (void* function : {pointers.hooked, pointers.bare}) {
    batches.per_call(function, std::min(block.calls, 32u));
    dearest = std::max(dearest, batches.per_call(function, std::min(block.calls, 32u)));
  }
  const double affordable = std::max(1.0, request.max_batch_ns / 2 / dearest);
  if (affordable < block.calls) block.calls = static_cast<unsigned>(affordable);

  const InterposerAccount account;
  std::mt19937_64 random(request.seed);
  std::uniform_real_distribution<double> gap(request.gap_ns / 4, request.gap_ns);
  const auto after_gap = [&](void* function) {
    if (request.gap_ns > 0) spin_for_ns(static_cast<int64_t>(gap(random)));
    return batches.per_call(function, block.calls);
  };
  for (unsigned i = 0; i < request.batches; ++i) {
    session.token.check();
    const bool hooked_first = random() & 1;
    void* const outer = hooked_first ? pointers.hooked : pointers.bare;
    void* const inner = hooked_first ? pointers.bare : pointers.hooked;
    double outer_ns = after_gap(outer), inner_ns = after_gap(inner);
    inner_ns += after_gap(inner);
    outer_ns += after_gap(outer);
    block.hooked_ns.push_back((hooked_first ? outer_ns : inner_ns) / 2);
    block.bare_ns.push_back((hooked_first ? inner_ns : outer_ns) / 2);
  }
  block.achieved_ns = account.of(request.name);
  batches.check();
  return block;
}

}  // namespace gvb
