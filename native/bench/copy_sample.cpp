#include "bench/copy_sample.h"

namespace gvb {

namespace {

// Of which the host looks at a word: more would take as long as the copy.
constexpr size_t kHostPage = 4096;
constexpr double kSampleNsPerMs = 1e6;

}  // namespace

AtOnce::AtOnce(const Cuda& cuda, std::unique_ptr<CopySample> one, std::unique_ptr<CopySample> other)
    : CopySample(cuda, {0, 0}), began_(make_event(cuda, abi::CU_EVENT_DISABLE_TIMING)) {
  for (auto* each : {&one, &other})
    parts_.push_back({std::move(*each), make_event(cuda, abi::CU_EVENT_DISABLE_TIMING)});
}

void AtOnce::prepare() {
  for (const Part& part : parts_) part.sample->prepare();
}

void AtOnce::queue() {
  GVB_CALL(cuda_, "recording an event", cuEventRecord, began_.get(), stream());
  for (const auto& [sample, over] : parts_) {
    GVB_CALL(cuda_, "waiting for an event", cuStreamWaitEvent, sample->stream(), began_.get(), 0U);
    sample->queue();
    GVB_CALL(cuda_, "recording an event", cuEventRecord, over.get(), sample->stream());
    GVB_CALL(cuda_, "waiting for an event", cuStreamWaitEvent, stream(), over.get(), 0U);
  }
}

void AtOnce::check(size_t step) {
  for (const Part& part : parts_) part.sample->check(step);
}

std::vector<double> time_copies(DeviceSession& session, CopySample& sample, const SampleCounts& counts) {
  const Cuda& cuda = session.cuda;
  const Event began = make_event(cuda), ended = make_event(cuda);
  std::vector<double> device_ns;
  for (unsigned i = 0; i < counts.warmup + counts.count; ++i) {
    session.token.check();
    sample.prepare();
    GVB_CALL(cuda, "recording an event", cuEventRecord, began.get(), sample.stream());
    sample.queue();
    GVB_CALL(cuda, "recording an event", cuEventRecord, ended.get(), sample.stream());
    GVB_CALL(cuda, "waiting for copies", cuStreamSynchronize, sample.stream());
    float milliseconds = 0;
    GVB_CALL(cuda, "reading the time of copies", cuEventElapsedTime, &milliseconds, began.get(), ended.get());
    const bool last = i + 1 == counts.warmup + counts.count;
    sample.check(last ? sizeof(uint32_t) : kHostPage);
    if (i >= counts.warmup) device_ns.push_back(static_cast<double>(milliseconds) * kSampleNsPerMs);
  }
  return device_ns;
}

}  // namespace gvb
