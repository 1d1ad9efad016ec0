// The kernels that fail on purpose, which several requests name.
#pragma once

#include "addon/fields.h"
#include "bench/faults.h"

namespace gvb {

inline const Choices<FaultKind>& fault_kinds() {
  static const auto& kinds = *new Choices<FaultKind>{"FaultKind",
                                                     {{FaultKind::kOutOfBounds, "outOfBounds"},
                                                      {FaultKind::kMisaligned, "misaligned"},
                                                      {FaultKind::kTrap, "trap"},
                                                      {FaultKind::kAssert, "assert"}}};
  return kinds;
}

}  // namespace gvb
