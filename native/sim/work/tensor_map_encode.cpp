#include <climits>

#include "sim/driver.h"
#include "sim/exports.h"
#include "sim/work/tensor_map.h"

namespace gvb::sim {
namespace {

uint8_t element_bytes(abi::CUtensorMapDataType type) {
  switch (type) {
    case abi::CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case abi::CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case abi::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case abi::CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
  }
  return 0;  // not simulated
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, unsigned rank, void* address,
                                const uint64_t* dimensions, const uint64_t* strides, const unsigned* box,
                                const unsigned* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  GVB_SIM_ENTER(cuTensorMapEncodeTiled);
  if (rank == 0 || rank > sim::kMostDimensions || dimensions == nullptr || box == nullptr || element_strides == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (rank > 1 && strides == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return CUDA_ERROR_NOT_SUPPORTED;
  sim::TensorDescription described = {};
  described.address = reinterpret_cast<uint64_t>(address);
  described.rank = static_cast<uint8_t>(rank);
  described.type = static_cast<uint8_t>(type);
  described.swizzle = static_cast<uint8_t>(swizzle);
  described.element_bytes = sim::element_bytes(type);
  for (unsigned i = 0; i < rank; ++i) {
    if (dimensions[i] > UINT_MAX || box[i] > USHRT_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (element_strides[i] != 1) return CUDA_ERROR_NOT_SUPPORTED;
    described.dimensions[i] = static_cast<uint32_t>(dimensions[i]);
    described.box[i] = static_cast<uint16_t>(box[i]);
    if (i + 1 < rank) described.strides[i] = strides[i];
  }
  return sim::encode(map, described);
}

}  // namespace gvb::abi
