#include "bench/llm/pipeline.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/clock.h"
#include "bench/clock_mapping.h"
#include "bench/stage_kernels.h"

namespace gvb {

namespace {

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
      : cuda_(session.cuda),
        request_(request),
        tick_ns_(session.kept<ClockEcho>().tick_ns()),
        blocks_(blocks_of_stage(session, request.stages)),
        kernels_(session, {places(), places() + request.micro_batches}, {blocks_, 0}) {
    for (unsigned stage = 0; stage < request.stages; ++stage) streams_.push_back(make_stream(cuda_));
    for (size_t i = 0; i < places(); ++i) ended_.push_back(make_event(cuda_, abi::CU_EVENT_DISABLE_TIMING));
  }
  // Kernels must be over before their output is freed.
  ~Pipeline() {
    for (const Stream& stream : streams_) cuda_.try_call(cuda_.api.cuStreamSynchronize, stream.get());
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  unsigned blocks() const { return blocks_; }

  unsigned calibrate() {
    return calibrated_stage(request_.stage_ns, [&](unsigned rounds) { return alone(rounds); });
  }

  // Back to back on one stream, so that the device does not idle between them.
  double alone(unsigned rounds) {
    const unsigned count = request_.alone;
    if (count > request_.micro_batches) throw std::logic_error("unreachable: no more stages alone than micro-batches");
    kernels_.begin(request_.micro_batches);
    for (unsigned batch = 0; batch < count; ++batch) launch({0, batch}, rounds);
    finish();
    std::vector<double> took;
    for (unsigned batch = 0; batch < count; ++batch) took.push_back(checked({0, batch}, rounds).took());
    return median_of(took);
  }

  void run(unsigned rounds, PipelineRuns& runs) {
    kernels_.begin(request_.micro_batches);
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
  // There are tokens before the first stage and after each stage.
  Stage stage_at(const StagePlace& at) const { return {place(at), place(at), place({at.stage + 1, at.batch})}; }

  void launch(const StagePlace& at, unsigned rounds) const {
    kernels_.launch(stage_at(at), rounds, streams_[at.stage].get());
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
    kernels_.read_tokens();
  }

  StageStamps stamps(const StagePlace& at) const { return kernels_.stamps(place(at)); }
  // Checks that the stage ran and did its own work on the token of the previous stage.
  StageStamps checked(const StagePlace& at, unsigned rounds) const {
    return kernels_.checked(stage_at(at), rounds, text(at));
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

  const Cuda& cuda_;
  const PipelineRequest& request_;
  const double tick_ns_;
  const unsigned blocks_;
  StageKernels kernels_;
  std::vector<Stream> streams_;
  std::vector<Event> ended_;
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
