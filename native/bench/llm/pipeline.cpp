#include "bench/llm/pipeline.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/clock.h"
#include "bench/clock_mapping.h"
#include "bench/kept_modules.h"
#include "bench/load_work.h"
#include "kernels/ptx.h"

namespace gvb {

using abi::CUdeviceptr;

namespace {

constexpr unsigned kStageThreads = 128;
constexpr unsigned kTokenMultiplier = 1664525;  // odd: maps tokens one to one
constexpr size_t kScratchBytes = 3 * sizeof(uint64_t);
constexpr unsigned kFirstRounds = 256;
constexpr unsigned kTrials = 3;

// Loaded once per session.
struct StageStamps {
  uint64_t began = 0, ended = 0;
  double took() const { return static_cast<double>(ended - began); }
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

unsigned blocks_of_stage(const DeviceSession& session, unsigned stages) {
  return std::max(1u, multiprocessors_of(session) / stages);
}

// A stage of a micro-batch; stages and micro-batches count from 0.
struct StagePlace {
  unsigned stage, batch;
};

std::string text(const StagePlace& place) {
  return "stage " + std::to_string(place.stage + 1) + " of micro-batch " + std::to_string(place.batch + 1);
}

class Pipeline {
 public:
  Pipeline(DeviceSession& session, const PipelineRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        kernel_(kept_module(session, gvb_ptx_pipeline).function("gvb_stage")),
        tick_ns_(session.kept<ClockEcho>().tick_ns()),
        blocks_(blocks_of_stage(session, request.stages)),
        stamps_(cuda_, places() * sizeof(StageStamps)),
        tokens_(token_count()),
        device_tokens_(make_memory(cuda_, token_count() * sizeof(unsigned))),
        scratch_(make_memory(cuda_, places() * kScratchBytes)) {
    for (unsigned stage = 0; stage < request.stages; ++stage) streams_.push_back(make_stream(cuda_));
    for (size_t i = 0; i < places(); ++i) ended_.push_back(make_event(cuda_, abi::CU_EVENT_DISABLE_TIMING));
    GVB_CALL(cuda_, "clearing the pipeline", cuMemsetD8_v2, scratch_.get(), 0, places() * kScratchBytes);
    GVB_CALL(cuda_, "clearing the pipeline", cuCtxSynchronize);
  }
  // Kernels must be over before their output is freed.
  ~Pipeline() {
    for (const Stream& stream : streams_) cuda_.api.cuStreamSynchronize(stream.get());
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  unsigned blocks() const { return blocks_; }

  unsigned calibrate() {
    unsigned rounds = kFirstRounds;
    for (unsigned trial = 0; trial < kTrials; ++trial) {
      const double wanted = static_cast<double>(request_.stage_ns) / alone(rounds) * rounds;
      rounds = static_cast<unsigned>(std::clamp(wanted, 1.0, 1e9));
    }
    return rounds;
  }

  // Back to back on one stream, so that the device does not idle between them.
  double alone(unsigned rounds) {
    const unsigned count = request_.alone;
    if (count > request_.micro_batches) throw std::logic_error("unreachable: no more stages alone than micro-batches");
    begin();
    for (unsigned batch = 0; batch < count; ++batch) launch({0, batch}, rounds);
    finish();
    std::vector<double> took;
    for (unsigned batch = 0; batch < count; ++batch) took.push_back(checked({0, batch}, rounds).took());
    return median_of(took);
  }

  void run(unsigned rounds, PipelineRuns& runs) {
    begin();
    const int64_t forked = now_ns();
    for (unsigned batch = 0; batch < request_.micro_batches; ++batch)
      for (unsigned stage = 0; stage < request_.stages; ++stage) enqueue({stage, batch}, rounds);
    GVB_CALL(cuda_, "waiting for the pipeline", cuStreamSynchronize, streams_.back().get());
    const int64_t joined = now_ns();
    finish();
    runs.run_ns.push_back(static_cast<double>(joined - forked));
    publish(rounds, runs);
  }

 private:
  size_t places() const { return size_t{request_.stages} * request_.micro_batches; }
  size_t place(const StagePlace& at) const { return size_t{at.stage} * request_.micro_batches + at.batch; }
  // One before the first stage, and one after each.
  size_t token_count() const { return places() + request_.micro_batches; }
  size_t token_bytes() const { return tokens_.size() * sizeof(unsigned); }
  CUdeviceptr token(const StagePlace& at) const { return device_tokens_.get() + place(at) * sizeof(unsigned); }

  void begin() {
    session_.token.check();
    seed_ += 0x9e3779b1u;
    for (size_t i = 0; i < places(); ++i) {
      stamps_.store<uint64_t>(0, i * sizeof(StageStamps));
      stamps_.store<uint64_t>(0, i * sizeof(StageStamps) + sizeof(uint64_t));
    }
    for (size_t i = 0; i < tokens_.size(); ++i)
      tokens_[i] = i < request_.micro_batches ? seed_ + static_cast<unsigned>(i) : 0;
    GVB_CALL(cuda_, "preparing the pipeline", cuMemcpyHtoD_v2, device_tokens_.get(), tokens_.data(), token_bytes());
    // Streams that do not wait for the default stream would begin too early.
    GVB_CALL(cuda_, "preparing the pipeline", cuCtxSynchronize);
  }
  void launch(const StagePlace& at, unsigned rounds) {
    CUdeviceptr stamps = stamps_.device(place(at) * sizeof(StageStamps)),
                scratch = scratch_.get() + place(at) * kScratchBytes, in = token(at),
                out = token({at.stage + 1, at.batch});
    unsigned multiplier = kTokenMultiplier;
    void* parameters[] = {&stamps, &scratch, &in, &out, &rounds, &multiplier};
    GVB_CALL(cuda_, "launching a stage", cuLaunchKernel, kernel_, blocks_, 1, 1, kStageThreads, 1, 1, 0,
             streams_[at.stage].get(), parameters, nullptr);
  }
  void enqueue(const StagePlace& at, unsigned rounds) {
    const abi::CUstream stream = streams_[at.stage].get();
    if (at.stage > 0)
      GVB_CALL(cuda_, "waiting for a stage", cuStreamWaitEvent, stream, ended_[place({at.stage - 1, at.batch})].get(),
               0);
    launch(at, rounds);
    if (at.stage + 1 < request_.stages)
      GVB_CALL(cuda_, "recording an event", cuEventRecord, ended_[place(at)].get(), stream);
  }
  void finish() {
    for (const Stream& stream : streams_)
      GVB_CALL(cuda_, "waiting for the pipeline", cuStreamSynchronize, stream.get());
    GVB_CALL(cuda_, "reading the pipeline's results", cuMemcpyDtoH_v2, tokens_.data(), device_tokens_.get(),
             token_bytes());
  }

  StageStamps stamps(const StagePlace& at) const {
    const size_t offset = place(at) * sizeof(StageStamps);
    return {stamps_.load<uint64_t>(offset), stamps_.load<uint64_t>(offset + sizeof(uint64_t))};
  }
  // Checks that it ran, and did its own work on the previous stage's result.
  StageStamps checked(const StagePlace& at, unsigned rounds) const {
    const StageStamps found = stamps(at);
    if (found.began == 0 || found.ended < found.began)
      throw Failure(FailureKind::kInvalidResult,
                    text(at) + " was launched successfully but did not run: it wrote no timestamps.");
    const unsigned expected = blocks_ * load_map({rounds, kTokenMultiplier}).of(tokens_[place(at)]);
    if (tokens_[place({at.stage + 1, at.batch})] != expected)
      throw Failure(FailureKind::kInvalidResult,
                    text(at) + " passed on a wrong result: it did other work, or began too early.");
    return found;
  }
  // Readings of two multiprocessors may differ by one step of the device's timer.
  double after(const StagePlace& at, const StagePlace& before) const {
    const auto gap = static_cast<double>(static_cast<int64_t>(stamps(at).began - stamps(before).ended));
    if (gap < -tick_ns_)
      throw Failure(FailureKind::kInvalidResult, text(at) + " began " + std::to_string(static_cast<int64_t>(-gap)) +
                                                     " ns before " + text(before) +
                                                     ", which it depends on, had ended.");
    return gap;
  }
  // The time since the later of the two stages it depends on ended.
  std::optional<double> handoff(const StagePlace& at) const {
    std::optional<double> gap;
    if (at.stage > 0) gap = after(at, {at.stage - 1, at.batch});
    if (at.batch > 0) {
      const double own = after(at, {at.stage, at.batch - 1});
      gap = gap ? std::min(*gap, own) : own;
    }
    return gap;
  }

  void publish(unsigned rounds, PipelineRuns& runs) const {
    std::vector<double> took, handoffs;
    uint64_t first = UINT64_MAX, last = 0;
    double work = 0;
    for (unsigned stage = 0; stage < request_.stages; ++stage)
      for (unsigned batch = 0; batch < request_.micro_batches; ++batch) {
        const StageStamps found = checked({stage, batch}, rounds);
        took.push_back(found.took());
        work += found.took();
        first = std::min(first, found.began);
        last = std::max(last, found.ended);
        if (const auto gap = handoff({stage, batch})) handoffs.push_back(*gap);
      }
    const auto device = static_cast<double>(last - first);
    runs.device_ns.push_back(device);
    runs.stage_ns.push_back(median_of(took));
    runs.at_once.push_back(work / std::max(1.0, device));
    runs.handoff_ns.push_back(handoffs.empty() ? 0 : median_of(handoffs));
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const PipelineRequest& request_;
  const abi::CUfunction kernel_;
  const double tick_ns_;
  const unsigned blocks_;
  const MappedMemory stamps_;
  std::vector<unsigned> tokens_;  // the first one of each micro-batch, and each stage's result
  const DeviceMemory device_tokens_;
  const DeviceMemory scratch_;
  std::vector<Stream> streams_;
  std::vector<Event> ended_;
  unsigned seed_ = static_cast<unsigned>(now_ns());
};

}  // namespace

PipelineRuns measure_pipeline(DeviceSession& session, const PipelineRequest& request) {
  require_attribute(session, abi::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, "concurrent kernels");
  Pipeline pipeline(session, request);
  PipelineRuns runs;
  runs.blocks = pipeline.blocks();
  runs.rounds = request.rounds > 0 ? request.rounds : pipeline.calibrate();
  for (unsigned i = 0; i < request.runs; ++i) {
    runs.alone_ns.push_back(pipeline.alone(runs.rounds));
    pipeline.run(runs.rounds, runs);
  }
  return runs;
}

}  // namespace gvb
