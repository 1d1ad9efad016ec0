// What cuTensorMapEncodeTiled writes here in place of the hardware's own encoding: the description itself, for the
// simulated kernels and for the emulated ones of the native tests.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::sim {

constexpr unsigned kMostDimensions = 5;

struct TensorDescription {
  uint64_t mark;
  uint64_t address;
  uint64_t strides[kMostDimensions - 1];  // in bytes, of every dimension but the innermost
  uint32_t dimensions[kMostDimensions];   // in elements, the innermost first
  uint16_t box[kMostDimensions];
  uint8_t rank, type, swizzle, element_bytes;
};

// INVALID_VALUE where the driver API's reference says so of these arguments.
abi::CUresult encode(abi::CUtensorMap* map, const TensorDescription& described);

// Null where the map was not encoded here.
const TensorDescription* described_by(const abi::CUtensorMap& map);

}  // namespace gvb::sim
