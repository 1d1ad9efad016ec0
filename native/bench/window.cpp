#include "bench/window.h"

#include <random>

#include "base/wait.h"
#include "bench/block_counter.h"
#include "bench/blocks.h"
#include "bench/gpu_state.h"
#include "bench/live_blocks.h"

namespace gvb {

namespace {

// Every stride-th sample; when full, every second one is dropped and the stride doubled.
class Thinned {
 public:
  explicit Thinned(size_t most) : most_(most) {}

  struct Sample {
    int64_t at, took;
  };
  void add(const Sample& sample) {
    if (seen_++ % stride_ != 0) return;
    if (at_.size() == most_) {
      thin(at_);
      thin(took_);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) return;
    }
    at_.push_back(static_cast<double>(sample.at));
    took_.push_back(static_cast<double>(sample.took));
  }
  const std::vector<double>& at() const { return at_; }
  const std::vector<double>& took() const { return took_; }

 private:
  static void thin(std::vector<double>& samples) {
    size_t kept = 0;
    for (size_t i = 0; i < samples.size(); i += 2) samples[kept++] = samples[i];
    samples.resize(kept);
  }

  const size_t most_;
  std::vector<double> at_, took_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;
};

// Calls `between` before each operation, untimed.
template <class Operation, class Between>
Window repeat(const DeviceSession& session, const WindowRequest& request, const Operation& operation,
              const Between& between) {
  Window window;
  Thinned samples(request.most_samples);
  for (unsigned i = 0; i < request.warmup; ++i) operation();
  wait_for_release(request.start_at_ns, [&] { session.token.check(); });
  const int64_t started = now_ns();
  let_others_begin();
  const int64_t until = request.start_at_ns + static_cast<int64_t>(request.window_ns);
  int64_t ended = started;
  while (ended < until) {
    session.token.check();
    between();
    const int64_t began = now_ns();
    const int64_t took = operation();
    ended = now_ns();
    ++window.operations;
    samples.add({began - request.start_at_ns, took});
  }
  window.at_ns = samples.at();
  window.took_ns = samples.took();
  window.started_ns = static_cast<double>(started - request.start_at_ns);
  window.ended_ns = static_cast<double>(ended - request.start_at_ns);
  return window;
}

template <class Operation>
Window repeat(const DeviceSession& session, const WindowRequest& request, const Operation& operation) {
  return repeat(session, request, operation, [] {});
}

// Checks, untimed, that the window's calls allocate real memory: two live blocks must not overlap and must hold what is
// written. Runs before random operations, one of 128 on average, so that a layer cannot predict it.
class AllocationCheck {
 public:
  AllocationCheck(DeviceSession& session, size_t bytes)
      : session_(session),
        bytes_(bytes),
        allocator_(make_allocator(session, AllocationApi::kMemAlloc, bytes, nullptr)) {}

  void sometimes() {
    constexpr unsigned kMeanDistance = 128;
    if (random_() % kMeanDistance == 0) verify();
  }
  void verify() {
    LiveBlocks blocks(session_.cuda, *allocator_);
    blocks.resize(2, session_.token);
    check_disjoint(blocks.pointers(), bytes_);
    for (const abi::CUdeviceptr block : blocks.pointers()) verify_block(session_.cuda, block, bytes_, nullptr);
    blocks.resize(0, session_.token);
    ++verified_;
  }
  uint64_t verified() const { return verified_; }

 private:
  DeviceSession& session_;
  const size_t bytes_;
  const std::unique_ptr<Allocator> allocator_;
  // Not a fixed seed: processes that begin together must draw different numbers.
  std::mt19937_64 random_{static_cast<uint64_t>(now_ns())};
  uint64_t verified_ = 0;
};

Window repeat_allocations(DeviceSession& session, const WindowRequest& request) {
  const Cuda& cuda = session.cuda;
  const size_t bytes = request.bytes == 0 ? allocation_granularity(session) : request.bytes;
  AllocationCheck check(session, bytes);
  check.verify();
  const std::optional<uint64_t> used_before = used_bytes(session);
  const auto allocate = cuda.require(cuda.api.cuMemAlloc_v2, "cuMemAlloc_v2");
  const auto release = cuda.require(cuda.api.cuMemFree_v2, "cuMemFree_v2");
  const auto operation = [&] {
    abi::CUdeviceptr pointer = 0;
    const int64_t called = now_ns();
    const abi::CUresult allocated = allocate(&pointer, bytes);
    if (allocated != abi::CUDA_SUCCESS) cuda.check(allocated, "cuMemAlloc_v2", "allocating beside other tenants");
    const abi::CUresult freed = release(pointer);
    const int64_t took = now_ns() - called;
    cuda.check(freed, "cuMemFree_v2", "freeing beside other tenants");
    return took;
  };
  Window window = repeat(session, request, operation, [&] { check.sometimes(); });
  check.verify();
  window.verified = check.verified();
  window.used_before = used_before;
  window.used_after = used_bytes(session);
  return window;
}

Window repeat_queries(DeviceSession& session, const WindowRequest& request) {
  const Cuda& cuda = session.cuda;
  const auto query = cuda.require(cuda.api.cuMemGetInfo_v2, "cuMemGetInfo_v2");
  return repeat(session, request, [&] {
    size_t free_bytes = 0, total = 0;
    const int64_t called = now_ns();
    const abi::CUresult code = query(&free_bytes, &total);
    const int64_t took = now_ns() - called;
    cuda.check(code, "cuMemGetInfo_v2", "asking beside other tenants");
    return took;
  });
}

Window repeat_launches(DeviceSession& session, const WindowRequest& request) {
  const Cuda& cuda = session.cuda;
  const auto launch = cuda.require(cuda.api.cuLaunchKernel, "cuLaunchKernel");
  const auto synchronise = cuda.require(cuda.api.cuStreamSynchronize, "cuStreamSynchronize");
  const abi::CUfunction kernel = session.module.function("gvb_count");
  const BlockCounter counter(cuda);
  abi::CUdeviceptr count = counter.device();
  void* parameters[] = {&count};
  const Stream stream = make_stream(cuda);
  Window window = repeat(session, request, [&] {
    const int64_t called = now_ns();
    const abi::CUresult launched = launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream.get(), parameters, nullptr);
    const int64_t took = now_ns() - called;
    cuda.check(launched, "cuLaunchKernel", "launching beside other tenants");
    cuda.check(synchronise(stream.get()), "cuStreamSynchronize", "waiting beside other tenants");
    return took;
  });
  counter.check(request.warmup + window.operations, "cuLaunchKernel");
  return window;
}

}  // namespace

Window measure_window(DeviceSession& session, const WindowRequest& request) {
  switch (request.operation) {
    case WindowOperation::kAllocFree:
      return repeat_allocations(session, request);
    case WindowOperation::kMemGetInfo:
      return repeat_queries(session, request);
    case WindowOperation::kLaunch:
      return repeat_launches(session, request);
  }
  throw Failure(FailureKind::kInvalidResult, "Expected a known operation.");
}

}  // namespace gvb
