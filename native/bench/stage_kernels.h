// Kernels that do a fixed amount of arithmetic on a token and record when they ran (gvb_stage): each computes a new
// token from one that it takes, which later shows that it ran, and on which input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct StageStamps {
  uint64_t began = 0, ended = 0;  // times of %globaltimer
  double took() const { return static_cast<double>(ended - began); }
};

// A kernel: where it stores its times, the token that it takes, and the one that it makes.
struct Stage {
  size_t place, in, out;
};

struct StageShape {
  unsigned blocks = 1;
  unsigned shared_bytes = 0;  // shared memory per block
};

class StageKernels {
 public:
  struct Room {
    size_t places, tokens;
  };
  StageKernels(DeviceSession& session, const Room& room, const StageShape& shape);

  // Call before a run: clears the times, sets the first `given` tokens to new values and the others to 0.
  void begin(size_t given);
  void launch(const Stage& stage, unsigned rounds, abi::CUstream stream) const;
  // Call after a run, once all streams are done.
  void read_tokens();

  StageStamps stamps(size_t place) const;
  // Throws kInvalidResult if the kernel did not run or did the wrong work.
  StageStamps checked(const Stage& stage, unsigned rounds, const std::string& name) const;

 private:
  size_t token_bytes() const { return tokens_.size() * sizeof(unsigned); }

  const DeviceSession& session_;
  const Cuda& cuda_;
  const StageShape shape_;
  const abi::CUfunction kernel_;
  const MappedMemory stamps_;
  const size_t places_;
  std::vector<unsigned> tokens_;
  const DeviceMemory device_tokens_;
  const DeviceMemory scratch_;
  unsigned seed_;
};

double median_of(std::vector<double> values);

// The number of rounds that makes a kernel take about `stage_ns`; `alone` returns the duration of a kernel with a given
// number of rounds.
template <class Alone>
unsigned calibrated_stage(uint64_t stage_ns, const Alone& alone) {
  constexpr unsigned kFirstRounds = 256, kTrials = 3;
  double rounds = kFirstRounds;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    const double wanted = static_cast<double>(stage_ns) / alone(static_cast<unsigned>(rounds)) * rounds;
    rounds = wanted < 1 ? 1 : wanted > 1e9 ? 1e9 : wanted;
  }
  return static_cast<unsigned>(rounds);
}

}  // namespace gvb
