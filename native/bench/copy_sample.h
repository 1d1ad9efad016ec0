// Copies that are timed by the device's events, and verified behind each sample.
#pragma once

#include <memory>
#include <vector>

#include "bench/copy_pattern.h"
#include "bench/device_session.h"

namespace gvb {

struct SampleData {
  size_t bytes;  // of a sample, in one direction
  uint64_t seed;
};

// One kind of sample: what is queued between two events, and what has to be there behind it.
class CopySample {
 public:
  CopySample(const Cuda& cuda, const SampleData& data)
      : cuda_(cuda), bytes_(data.bytes), pattern_(data.seed), stream_(make_stream(cuda)) {}
  virtual ~CopySample() = default;
  CopySample(const CopySample&) = delete;
  CopySample& operator=(const CopySample&) = delete;

  abi::CUstream stream() const { return stream_.get(); }
  // Chooses where the sample begins; untimed.
  virtual void prepare() { first_ = pattern_.next(); }
  virtual void queue() = 0;
  // `step`: of which the host looks at a word.
  virtual void check(size_t step) = 0;

 protected:
  size_t offset() const { return first_ * sizeof(uint32_t); }

  const Cuda& cuda_;
  const size_t bytes_;
  CopyPattern pattern_;
  size_t first_ = 0;

 private:
  const Stream stream_;
};

// Two samples that begin at the same time, each on its own stream.
class AtOnce : public CopySample {
 public:
  AtOnce(const Cuda& cuda, std::unique_ptr<CopySample> one, std::unique_ptr<CopySample> other);

  void prepare() override;
  void queue() override;
  void check(size_t step) override;

 private:
  struct Part {
    std::unique_ptr<CopySample> sample;
    Event over;
  };

  std::vector<Part> parts_;
  const Event began_;
};

struct SampleCounts {
  unsigned warmup = 0, count = 0;
};

// Durations of the samples that count, each from before its first copy until behind its last. The host looks at a word
// of every page of a sample, and at every word of the last one. Throws kInvalidResult if the device's clock shows more
// time in a further sample than the events.
std::vector<double> time_copies(DeviceSession& session, CopySample& sample, const SampleCounts& counts);

}  // namespace gvb
