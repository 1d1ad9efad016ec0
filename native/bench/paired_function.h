// One function through the pointer an application gets and through the driver's own: what a pair is of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct PairedPointers {
  void* hooked;
  void* bare;
};

// Throws kFunctionMissing where there is none of the two, or where the driver's own code was overwritten: then that
// pointer leads into a layer, too, and the pair would say that a hooked call costs nothing.
PairedPointers paired_pointers(DeviceSession& session, const std::string& name);

struct PairBlock {
  PairBlock() = default;
  explicit PairBlock(const PairedPointers& pointers);

  std::string owner, bare_owner;
  bool intercepted = false;
  unsigned calls = 1;
  std::vector<double> hooked_ns, bare_ns;  // per call, one per sample
  // What the calibration interposer, where it is loaded, says its hook took at the median.
  std::optional<double> achieved_ns;
};

// The calibration interposer's own account of its hooks from now on, where that layer is loaded.
class InterposerAccount {
 public:
  InterposerAccount();
  std::optional<double> of(const std::string& name) const;

 private:
  using Achieved = double (*)(const char*);
  Achieved achieved_ = nullptr;
};

}  // namespace gvb
