#include "bench/stream_window.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/wait.h"
#include "bench/block_counters.h"
#include "bench/gpu_state.h"
#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr uint64_t kPieceBytes = 16, kWordsOfPiece = 4;
constexpr uint64_t kLeastBytes = uint64_t{64} << 20, kGranule = uint64_t{2} << 20;
constexpr uint64_t kMovedByKernel = uint64_t{4} << 30;  // about a millisecond of a large card
constexpr unsigned kThreads = 1024, kStreamBlocksPerMultiprocessor = 2;
constexpr size_t kInFlight = 8, kMostKernels = size_t{1} << 16;
constexpr uint32_t kFactor = 2654435761u, kBandwidthMark = 0x9e3779b9u;  // as in kernels/bandwidth.cu
constexpr uint32_t kPoison = 0xa5a5a5a5;
constexpr unsigned kSampledWords = 64;

using Span = std::array<uint64_t, 2>;

[[noreturn]] void fail(const std::string& what) {
  throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: " + what + ".");
}

uint64_t buffer_bytes(const DeviceSession& session, uint64_t wanted) {
  if (wanted != 0) return std::max(wanted / kPieceBytes, uint64_t{1}) * kPieceBytes;
  wanted = std::max(kLeastBytes, 8 * card_l2_bytes(session));
  return wanted / kGranule * kGranule;
}

const char* kernel_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::kWrite:
      return "gvb_bandwidth_write";
    case StreamKind::kCopy:
      return "gvb_bandwidth_copy";
    default:
      return "gvb_bandwidth_read";
  }
}

class Streaming {
 public:
  Streaming(DeviceSession& session, const StreamWindowRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        module_(kept_module(session, "bandwidth")),
        kernel_(module_.function(kernel_of(request.kind))),
        multiprocessors_(card_multiprocessors(session)),
        blocks_(request.blocks == 0 ? kStreamBlocksPerMultiprocessor * multiprocessors_ : request.blocks),
        bytes_(buffer_bytes(session, request.bytes)),
        seed_(static_cast<uint32_t>(random_())),
        passes_(static_cast<unsigned>(std::max(uint64_t{1}, kMovedByKernel / moved_by_pass()))),
        counters_(cuda_),
        spans_(make_memory(cuda_, kMostKernels * sizeof(Span))),
        source_(make_memory(cuda_, bytes_)),
        stream_(make_stream(cuda_)),
        began_(make_event(cuda_)) {
    if (request.kind == StreamKind::kCopy) target_.emplace(make_memory(cuda_, bytes_));
    for (size_t i = 0; i < kInFlight; ++i) finished_.push_back(make_event(cuda_));
    prepare();
  }
  ~Streaming() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;

  StreamWindow run() {
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    const int64_t until = std::max(now_ns(), request_.start_at_ns) + static_cast<int64_t>(request_.window_ns);
    GVB_CALL(cuda_, "recording an event", cuEventRecord, began_.get(), stream_.get());
    while (launched_ < kMostKernels && (launched_ == 0 || now_ns() < until)) {
      session_.token.check();
      const Event& finished = finished_[launched_ % kInFlight];
      if (launched_ >= kInFlight && device_ns(finished) >= static_cast<double>(request_.window_ns)) break;
      launch(kernel_, passes_, spans_.get() + launched_ * sizeof(Span));
      ++launched_;
      GVB_CALL(cuda_, "recording an event", cuEventRecord, finished.get(), stream_.get());
    }
    GVB_CALL(cuda_, "waiting for a stream of memory", cuStreamSynchronize, stream_.get());
    check();
    return described();
  }

 private:
  uint64_t moved_by_pass() const { return bytes_ * (request_.kind == StreamKind::kCopy ? 2 : 1); }

  // Waits for the end of a kernel; returns the time from the start of the window until then.
  double device_ns(const Event& finished) const {
    GVB_CALL(cuda_, "waiting for a stream of memory", cuEventSynchronize, finished.get());
    float ms = 0;
    GVB_CALL(cuda_, "reading the time between events", cuEventElapsedTime, &ms, began_.get(), finished.get());
    return double{ms} * 1e6;
  }

  // Buffers are written once, so that the data differs from the value with which the driver clears memory.
  void prepare() {
    const abi::CUdeviceptr from = spans_.get();
    GVB_CALL(cuda_, "clearing the stamps", cuMemsetD8_v2, from, 0, kMostKernels * sizeof(Span));
    const DeviceMemory& result = target_ ? *target_ : source_;
    GVB_CALL(cuda_, "clearing a buffer", cuMemsetD32_v2, result.get(), kPoison, bytes_ / sizeof(uint32_t));
    GVB_CALL(cuda_, "clearing a buffer", cuCtxSynchronize);
    if (request_.kind != StreamKind::kWrite) write(from);
    GVB_CALL(cuda_, "waiting for a stream of memory", cuStreamSynchronize, stream_.get());
    counted_ = counters_.read();
    if (request_.kind != StreamKind::kWrite && counted_ != blocks_) fail(ran(counted_, blocks_));
    reset_spans();
  }

  // The kernel keeps the earlier start.
  void reset_spans() {
    std::vector<Span> none(kMostKernels, Span{std::numeric_limits<uint64_t>::max(), 0});
    GVB_CALL(cuda_, "clearing the stamps", cuMemcpyHtoD_v2, spans_.get(), none.data(), none.size() * sizeof(Span));
    GVB_CALL(cuda_, "clearing the stamps", cuCtxSynchronize);
  }

  void write(abi::CUdeviceptr span) {
    const abi::CUfunction kernel =
        request_.kind == StreamKind::kWrite ? kernel_ : module_.function("gvb_bandwidth_write");
    launch_write(kernel, 1, span);
  }

  void launch(abi::CUfunction kernel, unsigned passes, abi::CUdeviceptr span) {
    if (request_.kind == StreamKind::kWrite) return launch_write(kernel, passes, span);
    abi::CUdeviceptr in = source_.get(), out = target_ ? target_->get() : 0, counters = counters_.device();
    unsigned long long count = bytes_ / kPieceBytes;
    void* read[] = {&in, &count, &passes, &span, &counters};
    void* copy[] = {&in, &out, &count, &passes, &span, &counters};
    start(kernel, request_.kind == StreamKind::kCopy ? copy : read);
  }

  void launch_write(abi::CUfunction kernel, unsigned passes, abi::CUdeviceptr span) {
    abi::CUdeviceptr out = source_.get(), counters = counters_.device();
    unsigned long long count = bytes_ / kPieceBytes;
    uint32_t seed = seed_;
    void* parameters[] = {&out, &count, &passes, &seed, &span, &counters};
    start(kernel, parameters);
  }

  void start(abi::CUfunction kernel, void** parameters) {
    GVB_CALL(cuda_, "launching a stream of memory", cuLaunchKernel, kernel, blocks_, 1, 1, kThreads, 1, 1, 0,
             stream_.get(), parameters, nullptr);
  }

  static std::string ran(uint64_t counted, uint64_t expected) {
    return std::to_string(expected) + " blocks of streams of memory were launched with success, the device ran " +
           std::to_string(counted) + " that read and wrote what they must";
  }

  void check() {
    const uint64_t counted = counters_.read() - counted_, expected = launched_ * blocks_;
    if (counted != expected) fail(ran(counted, expected));
    if (request_.kind == StreamKind::kRead) return;
    const DeviceMemory& result = target_ ? *target_ : source_;
    const uint64_t words = bytes_ / sizeof(uint32_t);
    std::uniform_int_distribution<uint64_t> any(0, words - 1);
    check_word(result, 0);
    check_word(result, words - 1);
    for (unsigned i = 0; i < kSampledWords; ++i) check_word(result, any(random_));
  }

  uint32_t word_at(uint64_t index) const {
    const uint32_t first = (static_cast<uint32_t>(index / kWordsOfPiece) * 3 + seed_) * kFactor;
    const uint32_t place = index % kWordsOfPiece;
    return place < 3 ? first + place * kFactor : first ^ (first + kFactor) ^ (first + 2 * kFactor) ^ kBandwidthMark;
  }

  void check_word(const DeviceMemory& memory, uint64_t index) {
    uint32_t word = ~kPoison;
    GVB_CALL(cuda_, "reading a word", cuMemcpyDtoH_v2, &word, memory.get() + index * sizeof word, sizeof word);
    if (word != word_at(index))
      fail("word " + std::to_string(index) + " of a buffer is " + (word == kPoison ? "as it was before" : "wrong"));
  }

  StreamWindow described() {
    std::vector<Span> spans(launched_);
    GVB_CALL(cuda_, "reading the stamps", cuMemcpyDtoH_v2, spans.data(), spans_.get(), spans.size() * sizeof(Span));
    StreamWindow out;
    out.bytes = bytes_;
    out.blocks = blocks_;
    out.multiprocessors = multiprocessors_;
    out.dram_ceiling_gbs = gvb::dram_ceiling_gbs(session_);
    out.moved_bytes = static_cast<double>(moved_by_pass()) * passes_;
    // Device times are too large for a double to hold nanoseconds.
    const uint64_t origin_ms = spans.front()[0] / 1'000'000;
    out.origin_ms = static_cast<double>(origin_ms);
    uint64_t last = 0;
    for (const auto& [from, to] : spans) {
      if (from < last || to <= from) fail("the stamps of successive kernels are not in order");
      last = to;
      out.from_ns.push_back(static_cast<double>(from - origin_ms * 1'000'000));
      out.to_ns.push_back(static_cast<double>(to - origin_ms * 1'000'000));
    }
    return out;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const StreamWindowRequest& request_;
  std::mt19937_64 random_{static_cast<uint64_t>(now_ns())};
  const Module& module_;
  const abi::CUfunction kernel_;
  const unsigned multiprocessors_, blocks_;
  const uint64_t bytes_;
  const uint32_t seed_;
  const unsigned passes_;
  const BlockCounters counters_;
  const DeviceMemory spans_;
  const DeviceMemory source_;
  std::optional<DeviceMemory> target_;
  const Stream stream_;
  const Event began_;
  std::vector<Event> finished_;
  size_t launched_ = 0;
  uint64_t counted_ = 0;
};

}  // namespace

StreamWindow stream_for(DeviceSession& session, const StreamWindowRequest& request) {
  return Streaming(session, request).run();
}

}  // namespace gvb
