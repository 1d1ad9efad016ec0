// What a rank adds to a sum: shared by the kernels that write and check it and by the simulated GPU.
#pragma once

#include "bench/llm/normal_value.h"

namespace gvb {

// A whole number below 2^20: sums of 16 ranks are exact in single precision, in any order.
GVB_HOST_DEVICE inline uint32_t part_value(uint64_t place, uint32_t rank, uint32_t seed) {
  return static_cast<uint32_t>(mixed(mixed(uint64_t{seed} << 8 | rank) + place) >> 44);
}

}  // namespace gvb
