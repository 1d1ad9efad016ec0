// The aggressors that copy, allocate, or create contexts.
#include <array>
#include <random>
#include <vector>

#include "base/clock.h"
#include "bench/aggressor_item.h"
#include "bench/green_context.h"

namespace gvb {

namespace {

constexpr size_t kCopyBytes = size_t{16} << 20;
constexpr size_t kCopyWords = kCopyBytes / sizeof(uint32_t);
constexpr unsigned kCopies = 4;  // in flight
constexpr unsigned kStormThreads = 32;
constexpr size_t kMostBlock = size_t{32} << 20;
constexpr unsigned kStormBlocks = 8;  // live at the same time
constexpr uint64_t kOverQuota = uint64_t{64} << 20;

[[noreturn]] void fail_undone(const char* what) {
  throw Failure(FailureKind::kInvalidResult,
                std::string("a call of an aggressor reported success without doing its work: ") + what + ".");
}

// Back-to-back copies of pinned memory in one direction. Each carries its number in the first and last word, which is
// checked on the other side.
class Copies : public AggressorItem {
 public:
  explicit Copies(const AggressorTools& tools)
      : cuda_(tools.cuda()), counters_(tools.counters.device()), stream_(make_stream(cuda_)) {
    if (tools.budget() < kCopies * kCopyBytes)
      throw Missing{"only " + in_mib(tools.budget()) + " may be taken, and its buffers take " +
                    in_mib(kCopies * kCopyBytes)};
    for (unsigned i = 0; i < kCopies; ++i) slots_.push_back(std::make_unique<Slot>(cuda_));
  }
  ~Copies() override { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }

  uint64_t next() override {
    Slot& slot = *slots_[begun_ % kCopies];
    const bool waits = begun_ >= kCopies;
    if (waits) {
      GVB_CALL(cuda_, "waiting for an aggressor's copy", cuEventSynchronize, slot.finished.get());
      check(slot, begun_ - kCopies);
    }
    begin(slot, number(begun_));
    ++begun_;
    GVB_CALL(cuda_, "recording an event", cuEventRecord, slot.finished.get(), stream_.get());
    return waits ? 1 : 0;
  }
  uint64_t finish() override {
    GVB_CALL(cuda_, "waiting for an aggressor's copies", cuStreamSynchronize, stream_.get());
    const uint64_t rest = std::min<uint64_t>(begun_, kCopies);
    for (uint64_t copy = begun_ - rest; copy < begun_; ++copy) check(*slots_[copy % kCopies], copy);
    return rest;
  }
  uint64_t blocks_of(uint64_t operations) const override { return operations; }
  void describe(Aggression* out) const override {
    out->used_bytes = kCopies * kCopyBytes;
    out->operation_bytes = kCopyBytes;
  }

 protected:
  struct Slot {
    explicit Slot(const Cuda& cuda)
        : host(cuda, kCopyBytes), device(make_memory(cuda, kCopyBytes)), finished(make_event(cuda)) {
      // The first use of memory costs more than later copies.
      GVB_CALL(cuda, "copying once before the start", cuMemcpyHtoD_v2, device.get(), host.host(), kCopyBytes);
    }
    const MappedMemory host;
    const DeviceMemory device;
    const Event finished;
  };

  static constexpr size_t kLastWord = (kCopyWords - 1) * sizeof(uint32_t);
  static uint32_t number(uint64_t copy) { return static_cast<uint32_t>(copy) * 2654435761u + 1; }

  virtual void begin(Slot& slot, uint32_t value) = 0;
  virtual void check(const Slot& slot, uint64_t copy) const = 0;
  void launch(abi::CUfunction kernel, const Slot& slot, uint32_t value) {
    abi::CUdeviceptr words = slot.device.get();
    unsigned long long count = kCopyWords;
    void* parameters[] = {&words, &count, &value, &counters_};
    GVB_CALL(cuda_, "launching an aggressor's kernel", cuLaunchKernel, kernel, 1, 1, 1, kStormThreads, 1, 1, 0,
             stream_.get(), parameters, nullptr);
  }

  const Cuda& cuda_;
  abi::CUdeviceptr counters_;
  const Stream stream_;

 private:
  std::vector<std::unique_ptr<Slot>> slots_;
  uint64_t begun_ = 0;
};

class CopiesToDevice : public Copies {
 public:
  explicit CopiesToDevice(const AggressorTools& tools)
      : Copies(tools), arrived_(tools.module.function("gvb_arrived")) {}

 private:
  void begin(Slot& slot, uint32_t value) override {
    slot.host.store(value);
    slot.host.store(value, kLastWord);
    GVB_CALL(cuda_, "copying to the device", cuMemcpyHtoDAsync_v2, slot.device.get(), slot.host.host(), kCopyBytes,
             stream_.get());
    launch(arrived_, slot, value);
  }
  void check(const Slot&, uint64_t) const override {}  // the device counts what arrived

  const abi::CUfunction arrived_;
};

class CopiesToHost : public Copies {
 public:
  explicit CopiesToHost(const AggressorTools& tools) : Copies(tools), mark_(tools.module.function("gvb_mark_ends")) {}

 private:
  void begin(Slot& slot, uint32_t value) override {
    launch(mark_, slot, value);
    GVB_CALL(cuda_, "copying to the host", cuMemcpyDtoHAsync_v2, slot.host.host(), slot.device.get(), kCopyBytes,
             stream_.get());
  }
  void check(const Slot& slot, uint64_t copy) const override {
    const uint32_t expected = number(copy);
    if (slot.host.load<uint32_t>() != expected || slot.host.load<uint32_t>(kLastWord) != expected)
      fail_undone("a copy to the host did not arrive");
  }

  const abi::CUfunction mark_;
};

// Blocks of random sizes, each written by a kernel and read back; sometimes one that is larger than the quota.
class Allocations : public AggressorItem {
 public:
  explicit Allocations(const AggressorTools& tools)
      : cuda_(tools.cuda()),
        mark_(tools.module.function("gvb_mark_ends")),
        counters_(tools.counters.device()),
        most_(std::min(kMostBlock, tools.budget() / kStormBlocks)),
        over_quota_(over_quota(tools)) {
    if (most_ < sizeof(uint64_t)) throw Missing{"too little device memory is free for its blocks"};
  }

  uint64_t next() override {
    std::vector<DeviceMemory> live;
    uint64_t done = 0, live_bytes = 0;
    for (unsigned i = 0; i < kStormBlocks; ++i) {
      const size_t words = std::uniform_int_distribution<size_t>(2, most_ / sizeof(uint32_t))(random_);
      abi::CUdeviceptr pointer = 0;
      if (!allocated(&pointer, words * sizeof(uint32_t), &refused_)) break;
      live.emplace_back(cuda_, pointer);
      live_bytes += words * sizeof(uint32_t);
      most_live_bytes_ = std::max(most_live_bytes_, live_bytes);
      write_and_read(pointer, words);
      ++done;
    }
    if (over_quota_ != 0) try_too_much();
    return done;
  }
  uint64_t finish() override { return 0; }
  uint64_t blocks_of(uint64_t operations) const override { return operations; }
  void describe(Aggression* out) const override {
    out->used_bytes = most_live_bytes_;
    out->refused = refused_;
    out->exceeded = exceeded_;
  }

 private:
  // Returns 0 if the card would have too little memory left for its other tenants in case no limit refuses the block.
  static uint64_t over_quota(const AggressorTools& tools) {
    const uint64_t quota = tools.request.quota_bytes;
    const auto free_bytes =
        read_gpu_state(tools.session.driver.nvml.api, tools.session.nvml_device, GpuDetail::kReadings)
            .free_bytes.value_or(0);
    return quota != 0 && free_bytes > quota + kOverQuota + (uint64_t{1} << 30) ? quota + kOverQuota : 0;
  }
  bool allocated(abi::CUdeviceptr* pointer, size_t bytes, uint64_t* refused) const {
    const abi::CUresult code = cuda_.require(cuda_.api.cuMemAlloc_v2, "cuMemAlloc_v2")(pointer, bytes);
    if (code == abi::CUDA_ERROR_OUT_OF_MEMORY) {
      ++*refused;
      return false;
    }
    cuda_.check(code, "cuMemAlloc_v2", "allocating as an aggressor");
    return true;
  }
  void write_and_read(abi::CUdeviceptr words, unsigned long long count) {
    uint32_t value = static_cast<uint32_t>(random_()), read = ~value;
    void* parameters[] = {&words, &count, &value, &counters_};
    GVB_CALL(cuda_, "launching an aggressor's kernel", cuLaunchKernel, mark_, 1, 1, 1, kStormThreads, 1, 1, 0, nullptr,
             parameters, nullptr);
    GVB_CALL(cuda_, "reading an aggressor's block", cuMemcpyDtoH_v2, &read, words + (count - 1) * sizeof value,
             sizeof read);
    if (read != value) fail_undone("a block that was allocated does not hold what was written");
  }
  // A granted block is no error of this process: others measure whether the limit holds.
  void try_too_much() {
    abi::CUdeviceptr pointer = 0;
    const abi::CUresult code = cuda_.require(cuda_.api.cuMemAlloc_v2, "cuMemAlloc_v2")(&pointer, over_quota_);
    if (code != abi::CUDA_SUCCESS) {
      ++refused_;
      return;
    }
    const DeviceMemory given_back(cuda_, pointer);
    const abi::CUdeviceptr last = pointer + over_quota_ / sizeof(uint32_t) * sizeof(uint32_t) - sizeof(uint32_t);
    const auto value = static_cast<uint32_t>(random_());
    uint32_t read = ~value;
    GVB_CALL(cuda_, "writing above an aggressor's quota", cuMemsetD32_v2, last, value, 1);
    GVB_CALL(cuda_, "reading above an aggressor's quota", cuMemcpyDtoH_v2, &read, last, sizeof read);
    if (read != value) fail_undone("a block above the quota that was allocated does not hold what was written");
    ++exceeded_;
  }

  const Cuda& cuda_;
  const abi::CUfunction mark_;
  abi::CUdeviceptr counters_;
  const size_t most_;
  const uint64_t over_quota_;
  uint64_t most_live_bytes_ = 0;
  uint64_t refused_ = 0, exceeded_ = 0;
  std::mt19937_64 random_{static_cast<uint64_t>(now_ns())};
};

// A second context beside the session's, created and destroyed; memory filled in it shows that it works.
class Contexts : public AggressorItem {
 public:
  explicit Contexts(const AggressorTools& tools) : session_(tools.session), cuda_(tools.cuda()) {
    if (sessions_are_confined()) throw Missing{"a second context would have the whole device"};
    constexpr size_t kContextBytes = size_t{1} << 30;  // more than a context takes
    if (tools.budget() < kContextBytes)
      throw Missing{"only " + in_mib(tools.budget()) + " may be taken, and a second context takes up to " +
                    in_mib(kContextBytes)};
  }

  uint64_t next() override {
    const OwnContext context(session_);
    constexpr size_t kWords = 1024;
    const auto value = static_cast<uint32_t>(++made_ * 2654435761u);
    std::array<uint32_t, kWords> words{};
    const DeviceMemory memory = make_memory(cuda_, sizeof words);
    GVB_CALL(cuda_, "filling memory of a second context", cuMemsetD32_v2, memory.get(), value, kWords);
    GVB_CALL(cuda_, "reading memory of a second context", cuMemcpyDtoH_v2, words.data(), memory.get(), sizeof words);
    if (words.front() != value || words.back() != value) fail_undone("memory of a second context was not filled");
    return 1;
  }
  uint64_t finish() override { return 0; }
  uint64_t blocks_of(uint64_t) const override { return 0; }  // their kernels cannot reach this context's counters

 private:
  struct OwnContext {
    explicit OwnContext(const DeviceSession& device_session) : session(device_session) {
      GVB_CALL(session.cuda, "creating a second context", cuCtxCreate_v2, &context, 0, session.device);
    }
    ~OwnContext() {
      session.cuda.try_call(session.cuda.api.cuCtxDestroy_v2, context);
      session.cuda.try_call(session.cuda.api.cuCtxSetCurrent, session.context.get());
    }
    OwnContext(const OwnContext&) = delete;
    OwnContext& operator=(const OwnContext&) = delete;

    const DeviceSession& session;
    abi::CUcontext context = nullptr;
  };

  const DeviceSession& session_;
  const Cuda& cuda_;
  uint64_t made_ = 0;
};

}  // namespace

std::unique_ptr<AggressorItem> make_storm_item(const AggressorTools& tools) {
  switch (tools.request.kind) {
    case AggressorKind::kCopyToDevice:
      return std::make_unique<CopiesToDevice>(tools);
    case AggressorKind::kCopyToHost:
      return std::make_unique<CopiesToHost>(tools);
    case AggressorKind::kAllocStorm:
      return std::make_unique<Allocations>(tools);
    case AggressorKind::kContextStorm:
      return std::make_unique<Contexts>(tools);
    default:
      throw Failure(FailureKind::kInvalidResult, "Expected an aggressor that copies, allocates or makes contexts.");
  }
}

}  // namespace gvb
