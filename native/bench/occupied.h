#pragma once

#include <cstdint>

namespace gvb {

// When a gvb_occupy ran, by the device's clock: block 0's first instruction, and the end of the last block. The layout
// is what the kernel writes.
struct Occupied {
  uint64_t start;
  uint64_t end;
};

}  // namespace gvb
