// The simulated cuTensorMapEncodeTiled writes the plain description instead of the hardware's encoding, for the
// simulated kernels and for the emulated ones in the native tests.
#pragma once

#include "driver/cuda_abi.h"

namespace gvb::sim {

constexpr unsigned kMostDimensions = 5;

struct TensorDescription {
  uint64_t mark;
  uint64_t address;
  uint64_t strides[kMostDimensions - 1];  // bytes, for every dimension but the innermost
  uint32_t dimensions[kMostDimensions];   // elements, innermost first
  uint16_t box[kMostDimensions];
  uint8_t rank, type, swizzle, element_bytes;
};

// Returns INVALID_VALUE for arguments that the driver API's reference rules out.
abi::CUresult encode(abi::CUtensorMap* map, const TensorDescription& described);

// Null if another driver encoded the map.
const TensorDescription* described_by(const abi::CUtensorMap& map);

}  // namespace gvb::sim
