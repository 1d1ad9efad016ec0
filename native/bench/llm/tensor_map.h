// Tensor maps: how the hardware finds the tiles of a matrix in device memory (TMA).
#pragma once

#include <initializer_list>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct TensorDimension {
  uint64_t size;    // in elements
  uint64_t stride;  // in elements; 1 in the innermost
  unsigned box;     // in elements, of a tile
};

// Of a tensor at `address`, the innermost dimension first. Tiles are swizzled by 128 bytes: the box of the innermost
// dimension must be 128 bytes wide.
abi::CUtensorMap swizzled_tensor(const Cuda& cuda, abi::CUdeviceptr address, Number number,
                                 std::initializer_list<TensorDimension> dimensions);

// Lets a kernel be launched with so many bytes of dynamic shared memory.
void allow_shared_memory(const Cuda& cuda, abi::CUfunction kernel, unsigned bytes);

}  // namespace gvb
