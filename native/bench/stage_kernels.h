// Kernels that do a fixed amount of arithmetic on a token and say when they ran (gvb_stage): each takes one token and
// makes another one of it, which shows afterwards that it ran, and on what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct StageStamps {
  uint64_t began = 0, ended = 0;  // of %globaltimer
  double took() const { return static_cast<double>(ended - began); }
};

// A kernel: where its times go, the token that it takes, and the one that it makes.
struct Stage {
  size_t place, in, out;
};

struct StageShape {
  unsigned blocks = 1;
  unsigned shared_bytes = 0;  // of each block
};

class StageKernels {
 public:
  struct Room {
    size_t places, tokens;
  };
  StageKernels(DeviceSession& session, const Room& room, const StageShape& shape);

  // Before a run: no times, the first `given` tokens new ones, the others 0.
  void begin(size_t given);
  void launch(const Stage& stage, unsigned rounds, abi::CUstream stream) const;
  // After a run, once every stream was waited for.
  void read_tokens();

  StageStamps stamps(size_t place) const;
  // Throws kInvalidResult where it did not run, or did other work than its own.
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

// As many rounds as make a kernel of about `stage_ns`; `alone` says how long one of so many rounds takes.
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
