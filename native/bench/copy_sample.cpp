#include "bench/copy_sample.h"

#include <string>

namespace gvb {

namespace {

// Of which the host looks at a word: more would take as long as the copy.
constexpr size_t kHostPage = 4096;
constexpr double kSampleNsPerMs = 1e6;
// Limits on the time between the stamps beyond that between the events: half of the least change that counts (delta of
// the metrics of copies), and for the two kernels and the clocks' steps.
constexpr double kMostBeside = 1.025, kKernelsNs = 50'000;
constexpr unsigned kBracketed = 20;

// Kernels that write the device's clock before and behind a sample.
class Brackets {
 public:
  Brackets(DeviceSession& session, abi::CUstream stream)
      : cuda_(session.cuda),
        stream_(stream),
        stamp_(session.module.function("gvb_stamp")),
        stamps_(session.cuda, 2 * sizeof(uint64_t)) {}

  void write(size_t index) {
    abi::CUdeviceptr slot = stamps_.device(index * sizeof(uint64_t));
    void* parameters[] = {&slot};
    stamps_.store(uint64_t{0}, index * sizeof(uint64_t));
    GVB_CALL(cuda_, "reading the device's clock", cuLaunchKernel, stamp_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters,
             nullptr);
  }
  // Between the two.
  double ns() const {
    const auto before = stamps_.load<uint64_t>(), behind = stamps_.load<uint64_t>(sizeof(uint64_t));
    if (before == 0 || behind < before)
      throw Failure(FailureKind::kInvalidResult,
                    "a call reported success without doing its work: gvb_stamp was launched but wrote no time.");
    return static_cast<double>(behind - before);
  }

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const abi::CUfunction stamp_;
  const MappedMemory stamps_;
};

// Times samples one after the other, by events.
class EventTimer {
 public:
  EventTimer(DeviceSession& session, CopySample& sample)
      : session_(session),
        cuda_(session.cuda),
        sample_(sample),
        began_(make_event(session.cuda)),
        ended_(make_event(session.cuda)) {}

  // `step`: of which the host looks at a word.
  double time(size_t step, Brackets* brackets = nullptr) {
    session_.token.check();
    sample_.prepare();
    if (brackets) brackets->write(0);
    GVB_CALL(cuda_, "recording an event", cuEventRecord, began_.get(), sample_.stream());
    sample_.queue();
    GVB_CALL(cuda_, "recording an event", cuEventRecord, ended_.get(), sample_.stream());
    if (brackets) brackets->write(1);
    GVB_CALL(cuda_, "waiting for copies", cuStreamSynchronize, sample_.stream());
    float milliseconds = 0;
    GVB_CALL(cuda_, "reading the time of copies", cuEventElapsedTime, &milliseconds, began_.get(), ended_.get());
    sample_.check(step);
    return static_cast<double>(milliseconds) * kSampleNsPerMs;
  }

  // Events pass through a layer, which may change their times; the device's clock does not. Other processes may delay
  // the kernels, so one sample that agrees is enough. Not among the samples that count: kernels before copies cost them
  // time.
  void check() {
    Brackets brackets(session_, sample_.stream());
    double events_ns = 0, stamps_ns = 0;
    for (unsigned i = 0; i < kBracketed; ++i) {
      events_ns = time(kHostPage, &brackets);
      stamps_ns = brackets.ns();
      if (stamps_ns <= events_ns * kMostBeside + kKernelsNs) return;
    }
    throw Failure(FailureKind::kInvalidResult,
                  "the events around copies measured " + std::to_string(events_ns / kSampleNsPerMs) +
                      " ms, the device's clock " + std::to_string(stamps_ns / kSampleNsPerMs) + " ms.");
  }

 private:
  DeviceSession& session_;
  const Cuda& cuda_;
  CopySample& sample_;
  const Event began_, ended_;
};

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
  EventTimer timer(session, sample);
  std::vector<double> device_ns;
  for (unsigned i = 0; i < counts.warmup + counts.count; ++i) {
    const bool last = i + 1 == counts.warmup + counts.count;
    const double ns = timer.time(last ? sizeof(uint32_t) : kHostPage);
    if (i >= counts.warmup) device_ns.push_back(ns);
  }
  timer.check();
  return device_ns;
}

}  // namespace gvb
