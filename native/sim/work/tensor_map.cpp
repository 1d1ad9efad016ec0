#include "sim/work/tensor_map.h"

#include <climits>
#include <cstring>

namespace gvb::sim {
namespace {

constexpr uint64_t kDescribed = 0x70616d726f736e65;
constexpr unsigned kLargestBox = 256;
constexpr unsigned kSwizzledRow = 128;
constexpr uint64_t kLargestStride = uint64_t{1} << 40;

static_assert(sizeof(TensorDescription) <= sizeof(abi::CUtensorMap));

bool strides_fit(const TensorDescription& described) {
  uint64_t inner = uint64_t{described.dimensions[0]} * described.element_bytes;
  for (unsigned i = 0; i + 1 < described.rank; ++i) {
    const uint64_t stride = described.strides[i];
    if (stride % 16 != 0 || stride >= kLargestStride || stride < inner) return false;
    inner = stride * described.dimensions[i + 1];
  }
  return true;
}

bool box_fits(const TensorDescription& described) {
  const unsigned row = described.box[0] * described.element_bytes;
  if (row % 16 != 0 || (described.swizzle != 0 && row > kSwizzledRow)) return false;
  for (unsigned i = 0; i < described.rank; ++i)
    if (described.dimensions[i] == 0 || described.box[i] == 0 || described.box[i] > kLargestBox) return false;
  return true;
}

}  // namespace

abi::CUresult encode(abi::CUtensorMap* map, const TensorDescription& described) {
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % 64 != 0) return abi::CUDA_ERROR_INVALID_VALUE;
  if (described.rank == 0 || described.rank > kMostDimensions || described.element_bytes == 0 ||
      described.address % 16 != 0 || !strides_fit(described) || !box_fits(described))
    return abi::CUDA_ERROR_INVALID_VALUE;
  *map = {};
  std::memcpy(map, &described, sizeof described);
  std::memcpy(map, &kDescribed, sizeof kDescribed);
  return abi::CUDA_SUCCESS;
}

const TensorDescription* described_by(const abi::CUtensorMap& map) {
  return map.opaque[0] == kDescribed ? reinterpret_cast<const TensorDescription*>(&map) : nullptr;
}

}  // namespace gvb::sim
