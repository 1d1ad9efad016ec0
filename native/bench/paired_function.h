// One function through the pointer an application gets and through the driver's own: the two sides of a pair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct PairedPointers {
  void* hooked;
  void* bare;
  bool intercepted;  // `hooked` is no address of the driver's own
};

// Throws kFunctionMissing if either is missing, or if the driver's own code was overwritten: that pointer then leads
// into a layer too, and the pair would report that a hooked call costs nothing.
PairedPointers paired_pointers(DeviceSession& session, const std::string& name);

struct PairBlock {
  PairBlock() = default;
  explicit PairBlock(const PairedPointers& pointers);

  std::string owner, bare_owner;
  bool intercepted = false;
  unsigned calls = 1;
  std::vector<double> hooked_ns, bare_ns;  // per call, one value per sample
  // The median time in the hook as the calibration interposer reports it, if it is loaded.
  std::optional<double> achieved_ns;
};

// The calibration interposer's own timings of its hooks from now on, if that layer is loaded.
class InterposerAccount {
 public:
  InterposerAccount();
  std::optional<double> of(const std::string& name) const;

 private:
  using Achieved = double (*)(const char*);
  Achieved achieved_ = nullptr;
};

}  // namespace gvb
