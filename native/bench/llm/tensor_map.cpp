#include "bench/llm/tensor_map.h"

#include <memory>

namespace gvb {

namespace {

constexpr unsigned kMostDimensions = 5;

abi::CUtensorMapDataType type_of(Number number) {
  switch (number) {
    case Number::kF16:
      return abi::CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Number::kBf16:
      return abi::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Number::kF32:
      return abi::CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Number::kE4m3:
      return abi::CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
  return abi::CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

}  // namespace

abi::CUtensorMap swizzled_tensor(const Cuda& cuda, abi::CUdeviceptr address, Number number,
                                 std::initializer_list<TensorDimension> dimensions) {
  uint64_t sizes[kMostDimensions] = {}, strides[kMostDimensions] = {};
  unsigned boxes[kMostDimensions] = {}, ones[kMostDimensions] = {1, 1, 1, 1, 1};
  unsigned rank = 0;
  for (const TensorDimension& dimension : dimensions) {
    sizes[rank] = dimension.size;
    boxes[rank] = dimension.box;
    if (rank > 0) strides[rank - 1] = dimension.stride * bytes_of(number);
    ++rank;
  }
  // The driver refuses an unaligned map, and GCC 12 does not align every over-aligned object that is returned.
  const auto map = std::make_unique<abi::CUtensorMap>();
  GVB_CALL(cuda, "describing a matrix", cuTensorMapEncodeTiled, map.get(), type_of(number), rank,
           reinterpret_cast<void*>(address), sizes, strides, boxes, ones, abi::CU_TENSOR_MAP_INTERLEAVE_NONE,
           abi::CU_TENSOR_MAP_SWIZZLE_128B, abi::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
           abi::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return *map;
}

void allow_shared_memory(const Cuda& cuda, abi::CUfunction kernel, unsigned bytes) {
  GVB_CALL(cuda, "allowing a kernel its shared memory", cuFuncSetAttribute, kernel,
           abi::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
}

}  // namespace gvb
