// The aggressors that launch kernels.
#include <vector>

#include "bench/aggressor_item.h"
#include "bench/full_blocks.h"
#include "bench/full_check.h"
#include "bench/kernel_chain.h"

namespace gvb {

namespace {

constexpr uint64_t kHoldNs = 20'000'000;  // duration of a block of long kernels
constexpr unsigned kTinyThreads = 32;
constexpr unsigned kTinyBlocksPerMultiprocessor = 1024;
constexpr uint64_t kSweepBytes = uint64_t{4} << 30;  // per launch, about a millisecond
constexpr size_t kMostStream = size_t{4} << 30;
constexpr size_t kPageBytes = size_t{2} << 20;
constexpr size_t kMostPages = (size_t{16} << 30) / kPageBytes;
// On a large card the TLBs cover some GiB without a page walk.
constexpr size_t kLeastPages = (size_t{4} << 30) / kPageBytes;
constexpr unsigned kPageRounds = 128;
constexpr unsigned kIssueRounds = 4'000;  // some 2 ms of a full multiprocessor
constexpr unsigned kGraphNodes = 20;
constexpr unsigned kStormBatch = 256;

struct KernelShape {
  unsigned grid;
  unsigned threads;
  unsigned in_flight = 4;
};

// One wave of blocks that leave no multiprocessor any room.
KernelShape filling(const AggressorTools& tools, abi::CUfunction kernel, unsigned in_flight = 4) {
  const FullBlocks full = full_blocks(tools.session, kernel);
  return {full.each * tools.multiprocessors(), full.threads, in_flight};
}
KernelShape filling(const AggressorTools& tools, const char* kernel) {
  return filling(tools, tools.module.function(kernel));
}

// Kernels back to back on one stream. A few are queued, so that the device never waits for the host.
class Kernels : public AggressorItem {
 public:
  Kernels(const AggressorTools& tools, const char* kernel, const KernelShape& shape)
      : Kernels(tools, tools.module.function(kernel), shape) {}
  Kernels(const AggressorTools& tools, abi::CUfunction kernel, const KernelShape& shape)
      : cuda_(tools.cuda()),
        kernel_(kernel),
        counters_(tools.counters.device()),
        grid_(shape.grid),
        threads_(shape.threads),
        in_flight_(shape.in_flight),
        stream_(make_stream(cuda_)) {
    for (unsigned i = 0; i < in_flight_; ++i) finished_.push_back(make_event(cuda_));
  }
  // Kernels must be over before the memory that they read is freed.
  ~Kernels() override { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }

  uint64_t next() override {
    const Event& finished = finished_[begun_ % in_flight_];
    const bool waits = begun_ >= in_flight_;
    if (waits) GVB_CALL(cuda_, "waiting for an aggressor's kernel", cuEventSynchronize, finished.get());
    begin();
    ++begun_;
    GVB_CALL(cuda_, "recording an event", cuEventRecord, finished.get(), stream());
    return waits ? 1 : 0;
  }
  uint64_t finish() override {
    GVB_CALL(cuda_, "waiting for an aggressor's kernels", cuStreamSynchronize, stream());
    return std::min<uint64_t>(begun_, in_flight_);
  }
  uint64_t blocks_of(uint64_t operations) const override { return operations * grid_; }

 protected:
  virtual void begin() = 0;
  void launch(void** parameters) {
    GVB_CALL(cuda_, "launching an aggressor's kernel", cuLaunchKernel, kernel_, grid_, 1, 1, threads_, 1, 1, 0,
             stream(), parameters, nullptr);
  }
  abi::CUstream stream() const { return stream_.get(); }
  uint64_t begun() const { return begun_; }
  const Event& finished(uint64_t number) const { return finished_[number % in_flight_]; }

  const Cuda& cuda_;
  const abi::CUfunction kernel_;
  abi::CUdeviceptr counters_;
  const unsigned grid_, threads_;

 private:
  const unsigned in_flight_;
  const Stream stream_;
  std::vector<Event> finished_;
  uint64_t begun_ = 0;
};

class Hold : public Kernels {
 public:
  explicit Hold(const AggressorTools& tools) : Hold(tools, tools.session.module.function("gvb_occupy")) {}

  uint64_t finish() override {
    const uint64_t over = Kernels::finish();
    found_ = check_.result();
    if (found_ == Fullness::kRoom) throw Missing{kRoomLeft};
    return over;
  }
  void describe(Aggression* out) const override { out->card_full = card_full(found_); }

 private:
  Hold(const AggressorTools& tools, abi::CUfunction kernel)
      : Kernels(tools, kernel, filling(tools, kernel, 2)), check_(tools.session, {kHoldNs}) {}

  // The kernel before this one runs, or begins.
  void begin() override {
    unsigned long long spin = kHoldNs;
    abi::CUdeviceptr stamps = check_.stamps_of_next();
    void* parameters[] = {&stamps, &spin, &counters_};
    launch(parameters);
    if (begun() > 0) check_.look(begun() - 1, finished(begun() - 1));
  }

  FullCheck check_;
  Fullness found_ = Fullness::kUnknown;
};

class TinyBlocks : public Kernels {
 public:
  explicit TinyBlocks(const AggressorTools& tools)
      : Kernels(tools, "gvb_tiny_blocks", {kTinyBlocksPerMultiprocessor * tools.multiprocessors(), kTinyThreads}) {}

 private:
  void begin() override {
    void* parameters[] = {&counters_};
    launch(parameters);
  }
};

class Issue : public Kernels {
 public:
  explicit Issue(const AggressorTools& tools) : Kernels(tools, "gvb_issue", filling(tools, "gvb_issue")) {}

 private:
  void begin() override {
    unsigned rounds = kIssueRounds;
    float factor = 0.5f;
    void* parameters[] = {&rounds, &factor, &counters_};
    launch(parameters);
  }
};

DeviceMemory cleared(const Cuda& cuda, size_t bytes) {
  DeviceMemory memory = make_memory(cuda, bytes);
  GVB_CALL(cuda, "clearing an aggressor's memory", cuMemsetD8_v2, memory.get(), 0, bytes);
  GVB_CALL(cuda, "clearing an aggressor's memory", cuCtxSynchronize);
  return memory;
}

size_t l2_bytes(const AggressorTools& tools) {
  const uint64_t bytes = card_l2_bytes(tools.session);
  if (bytes == 0) throw Missing{"the driver does not say how large the L2 cache is"};
  return bytes;
}

// Eight times the L2 cache, so that hardly anything stays in it; or the size of the cache, so that nothing else does.
size_t sweep_bytes(const AggressorTools& tools) {
  const size_t l2 = l2_bytes(tools), budget = tools.budget();
  const bool cached = tools.request.kind == AggressorKind::kL2Thrash;
  const size_t bytes = cached ? l2 : std::min({std::max(8 * l2, size_t{256} << 20), kMostStream, budget / 2});
  if (bytes > budget || bytes < (cached ? l2 : 4 * l2))
    throw Missing{"only " + in_mib(cached ? budget : budget / 2) + " may be taken, and a working set of " +
                  in_mib(cached ? l2 : 4 * l2) + " is the smallest with an effect"};
  return bytes / 16 * 16;
}

class Sweep : public Kernels {
 public:
  explicit Sweep(const AggressorTools& tools)
      : Kernels(tools, "gvb_sweep", filling(tools, "gvb_sweep")),
        bytes_(sweep_bytes(tools)),
        memory_(cleared(cuda_, bytes_)) {}
  ~Sweep() override { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream()); }
  void describe(Aggression* out) const override { out->used_bytes = bytes_; }

 private:
  void begin() override {
    abi::CUdeviceptr words = memory_.get();
    unsigned long long count = bytes_ / 16;
    auto passes = static_cast<unsigned>(std::max<uint64_t>(1, kSweepBytes / bytes_));
    void* parameters[] = {&words, &count, &passes, &counters_};
    launch(parameters);
  }

  const size_t bytes_;
  const DeviceMemory memory_;
};

size_t page_count(const AggressorTools& tools) {
  const size_t pages = std::min(kMostPages, tools.budget() / kPageBytes);
  if (pages < kLeastPages)
    throw Missing{"only " + in_mib(pages * kPageBytes) + " may be taken, and " + in_mib(kLeastPages * kPageBytes) +
                  " of pages are the smallest amount that exceeds the reach of the TLBs"};
  return pages;
}

class Pages : public Kernels {
 public:
  explicit Pages(const AggressorTools& tools)
      : Kernels(tools, "gvb_touch_pages", filling(tools, "gvb_touch_pages")),
        pages_(page_count(tools)),
        memory_(cleared(cuda_, pages_ * kPageBytes)) {}
  ~Pages() override { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream()); }
  void describe(Aggression* out) const override { out->used_bytes = pages_ * kPageBytes; }

 private:
  void begin() override {
    abi::CUdeviceptr memory = memory_.get();
    unsigned long long pages = pages_, page_bytes = kPageBytes;
    unsigned rounds = kPageRounds;
    void* parameters[] = {&memory, &pages, &page_bytes, &rounds, &counters_};
    launch(parameters);
  }

  const size_t pages_;
  const DeviceMemory memory_;
};

// Launches one-block kernels as fast as the host can; the driver itself blocks a host that is too far ahead.
class Launches : public Kernels {
 public:
  explicit Launches(const AggressorTools& tools) : Kernels(tools, "gvb_tiny_blocks", {1, kTinyThreads}) {}
  uint64_t blocks_of(uint64_t operations) const override { return operations * kStormBatch; }

 private:
  // An operation is a batch, so that there are few events per launch.
  void begin() override {
    void* parameters[] = {&counters_};
    for (unsigned i = 0; i < kStormBatch; ++i) launch(parameters);
  }
};

class Graphs : public Kernels {
 public:
  explicit Graphs(const AggressorTools& tools)
      : Kernels(tools, "gvb_tiny_blocks", {1, kTinyThreads}), chain_(make_chain()) {}
  ~Graphs() override { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream()); }
  uint64_t blocks_of(uint64_t operations) const override { return operations * kGraphNodes; }

 private:
  KernelChain make_chain() {
    void* arguments[] = {&counters_};
    return {cuda_, kernel_, {1, kTinyThreads, kGraphNodes}, arguments};
  }
  void begin() override {
    GVB_CALL(cuda_, "launching an aggressor's graph", cuGraphLaunch, chain_.executable(), stream());
  }

  const KernelChain chain_;
};

}  // namespace

std::unique_ptr<AggressorItem> make_kernel_item(const AggressorTools& tools) {
  switch (tools.request.kind) {
    case AggressorKind::kLongKernels:
      return std::make_unique<Hold>(tools);
    case AggressorKind::kBlockFill:
      return std::make_unique<TinyBlocks>(tools);
    case AggressorKind::kDramStream:
    case AggressorKind::kL2Thrash:
      return std::make_unique<Sweep>(tools);
    case AggressorKind::kTlbThrash:
      return std::make_unique<Pages>(tools);
    case AggressorKind::kIssueSlots:
      return std::make_unique<Issue>(tools);
    case AggressorKind::kLaunchStorm:
      return std::make_unique<Launches>(tools);
    case AggressorKind::kGraphStorm:
      return std::make_unique<Graphs>(tools);
    default:
      throw Failure(FailureKind::kInvalidResult, "Expected an aggressor that launches kernels.");
  }
}

}  // namespace gvb
