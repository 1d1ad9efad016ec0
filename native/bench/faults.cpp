#include "bench/faults.h"

#include <atomic>

#include "base/clock.h"
#include "base/thread.h"
#include "base/wait.h"
#include "bench/full_blocks.h"
#include "kernels/ptx.h"

namespace gvb {

namespace {

constexpr size_t kChunk = size_t{256} << 20, kSmallestChunk = size_t{2} << 20, kMoreThanAnyCard = size_t{1} << 50;
constexpr int64_t kStartNs = 5'000'000'000;
constexpr int64_t kSurelyRunningNs = 20'000'000;  // an empty kernel would finish long before this
// A small kernel for which there is room begins long before this, also where several contexts take turns.
constexpr int64_t kRoomSeenNs = 50'000'000, kLookForRoomNs = 1'000'000;
// Under MPS on an H200 a client learned of its own fault only after a synchronisation that succeeded, while its
// neighbour learned of it at once.
constexpr int64_t kToldLateNs = 1'000'000'000, kLookEveryNs = 5'000'000;

void launch(const Cuda& cuda, abi::CUfunction kernel, unsigned blocks, unsigned threads, abi::CUstream stream,
            void** parameters) {
  GVB_CALL(cuda, "launching a kernel that fails on purpose", cuLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, 0,
           stream, parameters, nullptr);
}

[[noreturn]] void fail_endless(const char* why) {
  throw Failure(FailureKind::kInvalidResult, std::string("the endless kernel ") + why + ".");
}

void check_running(const Cuda& cuda, abi::CUstream stream) {
  const abi::CUresult code = cuda.require(cuda.api.cuStreamQuery, "cuStreamQuery")(stream);
  if (code == abi::CUDA_SUCCESS) fail_endless("was over at once");
  if (code != abi::CUDA_ERROR_NOT_READY) cuda.check(code, "cuStreamQuery", "looking for the endless kernel");
}

// A small kernel that is launched beside the endless one. Nothing of it is freed: that would wait for the endless
// kernel.
struct SmallKernel {
  explicit SmallKernel(const DeviceSession& session)
      : set_current(session.cuda.require(session.cuda.api.cuCtxSetCurrent, "cuCtxSetCurrent")),
        launch_kernel(session.cuda.require(session.cuda.api.cuLaunchKernel, "cuLaunchKernel")),
        context(session.context.get()),
        function(session.module.function("gvb_stamp")),
        stream(make_stream(session.cuda)),
        begun(session.cuda, sizeof(uint64_t)) {
    begun.store(uint64_t{0});
  }

  // On any thread.
  void launch() {
    abi::CUdeviceptr slot = begun.device();
    void* parameters[] = {&slot};
    if (set_current(context) == abi::CUDA_SUCCESS &&
        launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream.get(), parameters, nullptr) == abi::CUDA_SUCCESS)
      launched_at = now_ns();
  }

  const decltype(CudaApi::cuCtxSetCurrent) set_current;
  const decltype(CudaApi::cuLaunchKernel) launch_kernel;
  const abi::CUcontext context;
  const abi::CUfunction function;
  const Stream stream;
  const MappedMemory begun;
  std::atomic<int64_t> launched_at{0};
};

// The endless kernel fills the card if a small one does not begin beside it. Launched by a thread of its own, because a
// layer that limits the use of the card may hold the call back for as long as the card is used. nullopt: it did.
std::optional<bool> fills_card(const DeviceSession& session) {
  auto& small = *new SmallKernel(session);
  // A green context is the context of one thread at a time, and no layer holds its calls back.
  if (sessions_are_confined())
    small.launch();
  else if (!start_thread(Processors::kCallers, [&small] { small.launch(); }))
    return std::nullopt;
  for (const int64_t until = now_ns() + kRoomSeenNs; now_ns() < until; sleep_until(now_ns() + kLookForRoomNs)) {
    session.token.check();
    if (small.begun.load<uint64_t>() != 0) fail_endless("did not fill the card: a small kernel began beside it");
  }
  const int64_t launched_at = small.launched_at;
  if (launched_at == 0 || now_ns() - launched_at < kRoomSeenNs / 2) return std::nullopt;
  return true;
}

}  // namespace

const char* fault_kernel(FaultKind fault) {
  switch (fault) {
    case FaultKind::kOutOfBounds:
      return "gvb_out_of_bounds";
    case FaultKind::kMisaligned:
      return "gvb_misaligned";
    case FaultKind::kTrap:
      return "gvb_trap";
    case FaultKind::kAssert:
      return "gvb_assert";
  }
  return "";
}

FaultAnswer raise_fault(DeviceSession& session, const FaultRequest& request) {
  return raise_fault(session.cuda, request.fault, session.token);
}

FaultAnswer raise_fault(const Cuda& cuda, FaultKind fault, const CancelToken& token) {
  const Module module(cuda, gvb_ptx_faults);
  abi::CUdeviceptr no_stamp = 0;
  void* parameters[] = {&no_stamp};
  launch(cuda, module.function(fault_kernel(fault)), 1, 1, nullptr, parameters);
  const auto synchronize = cuda.require(cuda.api.cuCtxSynchronize, "cuCtxSynchronize");
  const int64_t began = now_ns();
  abi::CUresult code = synchronize();
  int64_t told_at = now_ns();
  while (code == abi::CUDA_SUCCESS && told_at - began < kToldLateNs) {
    token.check();
    sleep_until(now_ns() + kLookEveryNs);
    code = synchronize();
    told_at = now_ns();
  }
  return {code, cuda.error_name(code), told_at};
}

EndlessKernel start_endless(DeviceSession& session) {
  const Cuda& cuda = session.cuda;
  // Not freed before the process ends: freeing would wait for the kernel.
  const auto& module = *new Module(cuda, gvb_ptx_faults);
  const auto& stream = *new Stream(make_stream(cuda));
  const auto& stamp = *new MappedMemory(cuda, sizeof(uint64_t));
  stamp.store(uint64_t{0});
  abi::CUdeviceptr slot = stamp.device();
  void* parameters[] = {&slot};
  launch(cuda, session.module.function("gvb_stamp"), 1, 1, stream.get(), parameters);
  const abi::CUfunction endless = module.function("gvb_endless");
  const FullBlocks full = full_blocks(session, endless);
  const unsigned blocks = card_multiprocessors(session) * full.each;
  launch(cuda, endless, blocks, full.threads, stream.get(), nullptr);
  const int64_t began = now_ns();
  while (stamp.load<uint64_t>() == 0) {
    session.token.check();
    if (now_ns() - began > kStartNs) fail_endless("did not start within 5 s");
  }
  sleep_until(now_ns() + kSurelyRunningNs);
  check_running(cuda, stream.get());
  const std::optional<bool> card_full = fills_card(session);
  check_running(cuda, stream.get());
  return {blocks, card_full};
}

Storm allocation_storm(DeviceSession& session, const StormRequest& request) {
  const Cuda& cuda = session.cuda;
  const int64_t until = now_ns() + int64_t{request.for_ms} * 1'000'000;
  Storm storm;
  do {
    session.token.check();
    const DeviceMemory block = make_memory(cuda, request.bytes);
    ++storm.allocations;
  } while (now_ns() < until);
  return storm;
}

Hoard hoard(DeviceSession& session, const HoardRequest& request) {
  const Cuda& cuda = session.cuda;
  const auto allocate = cuda.require(cuda.api.cuMemAlloc_v2, "cuMemAlloc_v2");
  Hoard hoard;
  const auto ask = [&](size_t bytes) {
    abi::CUdeviceptr pointer = 0;
    const abi::CUresult code = allocate(&pointer, bytes);
    if (code == abi::CUDA_SUCCESS) {
      hoard.bytes += bytes;
      return true;
    }
    hoard.code = code;
    hoard.name = cuda.error_name(code);
    return false;
  };
  for (size_t chunk = kChunk; chunk >= kSmallestChunk;) {
    session.token.check();
    if (hoard.bytes + chunk > request.most_bytes || !ask(chunk)) chunk /= 2;
  }
  if (hoard.code == abi::CUDA_SUCCESS) ask(kMoreThanAnyCard);
  return hoard;
}

}  // namespace gvb
