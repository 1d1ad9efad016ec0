#include "bench/llm/stream.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include "base/clock.h"
#include "bench/block_counters.h"
#include "bench/gpu_state.h"
#include "bench/kept_modules.h"
#include "bench/llm/launch_timer.h"

namespace gvb {

namespace {

// Must match kernels/stream.cu.
struct BlockShape {
  unsigned threads, pieces;  // pieces of 16 bytes, per thread
  uint64_t bytes() const { return uint64_t{16} * pieces * threads; }
};
constexpr BlockShape kReadBlock{256, 16}, kWriteBlock{512, 1};
constexpr uint32_t kStreamFactor = 2654435761u;
constexpr uint32_t kStreamPoison = 0xa5a5a5a5;
constexpr unsigned kSampledWords = 64;

struct StreamKernels {
  explicit StreamKernels(const Module& module)
      : read(module.function("gvb_stream_read")),
        write(module.function("gvb_stream_write")),
        copy(module.function("gvb_stream_copy")) {}
  const abi::CUfunction read, write, copy;
};

[[noreturn]] void fail(const std::string& what) {
  throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: " + what + ".");
}

class Streams {
 public:
  Streams(DeviceSession& session, const StreamRequest& request)
      : cuda_(session.cuda),
        kind_(request.kind),
        kernels_(kept_module(session, "stream")),
        bytes_(request.bytes == 0 ? stream_bytes(session) : request.bytes),
        counters_(cuda_),
        source_(make_memory(cuda_, bytes_)),
        timer_(session) {
    if (kind_ == StreamKind::kCopy) target_.emplace(make_memory(cuda_, bytes_));
    seed_ = static_cast<uint32_t>(random_());
    if (kind_ == StreamKind::kWrite)
      poison(source_);
    else
      launch_write(timer_.stream());
    if (target_) poison(*target_);
    counted_ = counters();
  }

  StreamTimes measure(const StreamRequest& request) {
    const LaunchTimer::Launch launch = [this](abi::CUstream stream) { this->launch(stream); };
    const unsigned launches = timer_.launches_of_batch({request.least_launches, request.least_ns}, launch);
    std::vector<LaunchBatch> batches;
    for (unsigned i = 0; i < request.batches; ++i) batches.push_back(timer_.time(launches, launch));
    timer_.check_events(batches, "a stream of memory", launch);
    check();
    StreamTimes times;
    times.moved_bytes = static_cast<double>(bytes_) * (kind_ == StreamKind::kCopy ? 2 : 1);
    for (const LaunchBatch& batch : batches) times.launch_ns.push_back(batch.launch_ns());
    return times;
  }

 private:
  void launch(abi::CUstream stream) {
    ++launched_;
    if (kind_ == StreamKind::kWrite) return launch_write(stream);
    abi::CUdeviceptr in = source_.get(), out = target_ ? target_->get() : 0, counters = counters_.device();
    void* copy[] = {&in, &out, &counters};
    void* read[] = {&in, &counters};
    if (kind_ == StreamKind::kCopy)
      launch(kernels_.copy, kWriteBlock, stream, copy);
    else
      launch(kernels_.read, kReadBlock, stream, read);
  }

  void launch_write(abi::CUstream stream) {
    abi::CUdeviceptr out = source_.get(), counters = counters_.device();
    uint32_t seed = seed_;
    void* parameters[] = {&out, &seed, &counters};
    launch(kernels_.write, kWriteBlock, stream, parameters);
  }

  void launch(abi::CUfunction kernel, const BlockShape& shape, abi::CUstream stream, void** parameters) {
    GVB_CALL(cuda_, "launching a stream of memory", cuLaunchKernel, kernel,
             static_cast<unsigned>(bytes_ / shape.bytes()), 1, 1, shape.threads, 1, 1, 0, stream, parameters, nullptr);
  }

  // Blocks per launch.
  uint64_t blocks() const { return bytes_ / (kind_ == StreamKind::kRead ? kReadBlock : kWriteBlock).bytes(); }

  void poison(const DeviceMemory& memory) {
    GVB_CALL(cuda_, "clearing a buffer", cuMemsetD32_v2, memory.get(), kStreamPoison, bytes_ / sizeof(uint32_t));
    GVB_CALL(cuda_, "clearing a buffer", cuCtxSynchronize);
  }

  uint64_t counters() {
    GVB_CALL(cuda_, "waiting for a stream of memory", cuCtxSynchronize);
    return counters_.read();
  }

  // Over the whole source, mod 2^32.
  uint32_t sum() const {
    const uint64_t count = bytes_ / sizeof(uint32_t);
    const uint64_t indices = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    return (static_cast<uint32_t>(indices) + static_cast<uint32_t>(count) * seed_) * kStreamFactor;
  }

  void check() {
    const uint64_t counted = counters() - counted_;
    if (kind_ == StreamKind::kRead) {
      if (static_cast<uint32_t>(counted) != static_cast<uint32_t>(launched_) * sum())
        fail("the sum over " + std::to_string(launched_) + " launches of gvb_stream_read is wrong");
      return;
    }
    if (counted != launched_ * blocks())
      fail(std::to_string(launched_ * blocks()) +
           " blocks of memory streams were launched successfully, the device ran " + std::to_string(counted));
    const DeviceMemory& written = target_ ? *target_ : source_;
    std::uniform_int_distribution<uint64_t> any(0, bytes_ / sizeof(uint32_t) - 1);
    check_word(written, 0);
    check_word(written, bytes_ / sizeof(uint32_t) - 1);
    for (unsigned i = 0; i < kSampledWords; ++i) check_word(written, any(random_));
  }

  void check_word(const DeviceMemory& memory, uint64_t index) {
    uint32_t word = ~kStreamPoison;
    GVB_CALL(cuda_, "reading a word", cuMemcpyDtoH_v2, &word, memory.get() + index * sizeof word, sizeof word);
    const uint32_t expected = (static_cast<uint32_t>(index) + seed_) * kStreamFactor;
    if (word != expected)
      fail("word " + std::to_string(index) + " of a buffer is " +
           (word == kStreamPoison ? "as it was before" : "wrong"));
  }

  const Cuda& cuda_;
  const StreamKind kind_;
  const StreamKernels kernels_;
  const uint64_t bytes_;
  const BlockCounters counters_;
  const DeviceMemory source_;
  std::optional<DeviceMemory> target_;
  LaunchTimer timer_;
  std::mt19937_64 random_{static_cast<uint64_t>(now_ns())};
  uint32_t seed_ = 0;
  uint64_t launched_ = 0, counted_ = 0;
};

}  // namespace

uint64_t stream_bytes(const DeviceSession& session) {
  constexpr uint64_t kGranule = uint64_t{2} << 20, kLeast = uint64_t{1} << 30;
  const uint64_t wanted = std::max(kLeast, 8 * card_l2_bytes(session));
  const uint64_t room = visible_memory(session).free_bytes.value_or(wanted * 4) / 4;
  return std::max(std::min(wanted, room) / kGranule, uint64_t{1}) * kGranule;
}

double dram_ceiling_gbs(const DeviceSession& session) {
  const auto khz = card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const auto bits = card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return 2.0 * khz.value_or(0) * 1e3 * bits.value_or(0) / 8 / 1e9;
}

StreamTimes measure_stream(DeviceSession& session, const StreamRequest& request) {
  if (request.bytes % kReadBlock.bytes() != 0)
    throw Failure(FailureKind::kInvalidResult, "Expected a buffer of whole blocks of 64 KiB for a stream of memory.");
  return Streams(session, request).measure(request);
}

}  // namespace gvb
