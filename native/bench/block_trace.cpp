#include "bench/block_trace.h"

#include <algorithm>

#include "base/wait.h"
#include "bench/kept_modules.h"

namespace gvb {

namespace {

// The layout that the kernel writes.
struct Stretch {
  uint64_t start, end, multiprocessor;
};

constexpr size_t kRoom = size_t{1} << 18;
constexpr size_t kTraceBytes = kRoom * sizeof(Stretch);
// Two blocks of one warp per multiprocessor leave room for any other tenant's blocks.
constexpr unsigned kTraceBlocksPerMultiprocessor = 2, kTraceThreads = 32;
// Enough to cover a host that loses its processor for a while.
constexpr size_t kInFlight = 32;

class Tracer {
 public:
  Tracer(DeviceSession& session, const BlockTraceRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        kernel_(kept_module(session, "trace").function("gvb_trace_blocks")),
        grid_(request.blocks > 0 ? request.blocks : kTraceBlocksPerMultiprocessor * multiprocessors_of(session)),
        in_flight_(request.in_flight > 0 ? request.in_flight : kInFlight),
        stretches_(make_memory(cuda_, kTraceBytes + sizeof(uint64_t))),
        stream_(make_stream(cuda_)) {
    for (size_t i = 0; i < in_flight_; ++i) finished_.push_back(make_event(cuda_));
    GVB_CALL(cuda_, "clearing the trace", cuMemsetD8_v2, stretches_.get(), 0, kTraceBytes + sizeof(uint64_t));
    GVB_CALL(cuda_, "clearing the trace", cuCtxSynchronize);
  }
  ~Tracer() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  std::vector<Stretch> record() {
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    const int64_t until = request_.start_at_ns + static_cast<int64_t>(request_.window_ns);
    while (launches_ == 0 || (now_ns() < until && launches_ * grid_ < kRoom / 4)) {
      session_.token.check();
      launch();
    }
    GVB_CALL(cuda_, "waiting for traced blocks", cuStreamSynchronize, stream_.get());
    return read();
  }
  uint64_t blocks() const { return launches_ * grid_; }

 private:
  void launch() {
    const Event& finished = finished_[launches_ % in_flight_];
    if (launches_ >= in_flight_) GVB_CALL(cuda_, "waiting for traced blocks", cuEventSynchronize, finished.get());
    abi::CUdeviceptr stretches = stretches_.get(), used = stretches_.get() + kTraceBytes;
    unsigned long long room = kRoom, spin = request_.spin_ns, gap = request_.gap_ns;
    void* parameters[] = {&stretches, &room, &used, &spin, &gap};
    GVB_CALL(cuda_, "launching traced blocks", cuLaunchKernel, kernel_, grid_, 1, 1, kTraceThreads, 1, 1, 0,
             stream_.get(), parameters, nullptr);
    ++launches_;
    GVB_CALL(cuda_, "recording an event", cuEventRecord, finished.get(), stream_.get());
  }
  std::vector<Stretch> read() const {
    uint64_t used = 0;
    GVB_CALL(cuda_, "reading the trace", cuMemcpyDtoH_v2, &used, stretches_.get() + kTraceBytes, sizeof used);
    if (used < blocks() || used > kRoom)
      throw Failure(FailureKind::kInvalidResult, "Expected a trace of " + std::to_string(blocks()) +
                                                     " blocks or a few " + "stretches more, but the device wrote " +
                                                     std::to_string(used) + ".");
    std::vector<Stretch> all(used);
    if (used > 0)
      GVB_CALL(cuda_, "reading the trace", cuMemcpyDtoH_v2, all.data(), stretches_.get(), used * sizeof(Stretch));
    return all;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const BlockTraceRequest& request_;
  const abi::CUfunction kernel_;
  const unsigned grid_;
  const size_t in_flight_;
  const DeviceMemory stretches_;
  const Stream stream_;
  std::vector<Event> finished_;
  size_t launches_ = 0;
};

std::vector<Stretch> merged(std::vector<Stretch> all, uint64_t gap) {
  std::sort(all.begin(), all.end(), [](const Stretch& a, const Stretch& b) {
    return a.multiprocessor != b.multiprocessor ? a.multiprocessor < b.multiprocessor : a.start < b.start;
  });
  std::vector<Stretch> out;
  for (const Stretch& next : all) {
    const bool joins =
        !out.empty() && out.back().multiprocessor == next.multiprocessor && next.start <= out.back().end + gap;
    if (joins)
      out.back().end = std::max(out.back().end, next.end);
    else
      out.push_back(next);
  }
  return out;
}

}  // namespace

BlockTrace trace_blocks(DeviceSession& session, const BlockTraceRequest& request) {
  Tracer tracer(session, request);
  const std::vector<Stretch> all = merged(tracer.record(), request.gap_ns);
  BlockTrace trace;
  trace.blocks = tracer.blocks();
  uint64_t first = all.empty() ? 0 : all.front().start;
  for (const Stretch& stretch : all) first = std::min(first, stretch.start);
  // A double cannot hold nanoseconds of absolute device times.
  const uint64_t origin_ms = first / 1'000'000;
  trace.origin_ms = static_cast<double>(origin_ms);
  for (const Stretch& stretch : all) {
    trace.multiprocessor.push_back(static_cast<unsigned>(stretch.multiprocessor));
    trace.from_ns.push_back(static_cast<double>(stretch.start - origin_ms * 1'000'000));
    trace.to_ns.push_back(static_cast<double>(stretch.end - origin_ms * 1'000'000));
  }
  return trace;
}

}  // namespace gvb
