// Tensor maps, which tell the hardware where the tiles of a matrix are in device memory (TMA).
#pragma once

#include <initializer_list>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct TensorDimension {
  uint64_t size;    // elements
  uint64_t stride;  // elements; 1 in the innermost dimension
  unsigned box;     // elements per tile
};

// Describes a tensor at `address`, innermost dimension first. Tiles use the 128-byte swizzle, so the box of the
// innermost dimension must be 128 bytes wide.
abi::CUtensorMap swizzled_tensor(const Cuda& cuda, abi::CUdeviceptr address, Number number,
                                 std::initializer_list<TensorDimension> dimensions);

// Allows launches with that many bytes of dynamic shared memory.
void allow_shared_memory(const Cuda& cuda, abi::CUfunction kernel, unsigned bytes);

}  // namespace gvb
