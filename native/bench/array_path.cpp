// CUDA arrays, which back textures and surfaces; only copies reach them.
#include <array>

#include "bench/memory_path.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

constexpr size_t kElement = 16;  // four floats
constexpr size_t kLargest = size_t{1} << 30;

// Well below the limit of every GPU since Pascal in each dimension.
struct Shape {
  size_t width, height, depth;  // elements; depth 0: two dimensions
};

Shape flat_shape(size_t bytes) { return {16384, bytes / (16384 * kElement), 0}; }
constexpr size_t kArraySide = 256;
Shape deep_shape(size_t bytes) { return {kArraySide, kArraySide, bytes / (kArraySide * kArraySide * kElement)}; }

abi::CUarray as_array(unsigned long long handle) { return reinterpret_cast<abi::CUarray>(handle); }
template <class Handle>
unsigned long long as_number(Handle handle) {
  return reinterpret_cast<unsigned long long>(handle);
}

class Arrays : public PathAllocator {
 public:
  Arrays(DeviceSession& owner, MemoryPath path) : PathAllocator(owner), path_(path) { GVB_NEEDS(cuArrayDestroy); }
  PathSizes sizes() const override { return {1 << 20, kLargest}; }

  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    abi::CUarray array = nullptr;
    const Shape shape = shape_of(block);
    if (path_ == MemoryPath::kArray) {
      const abi::CUDA_ARRAY_DESCRIPTOR wanted = {shape.width, shape.height, abi::CU_AD_FORMAT_FLOAT, 4};
      GVB_NEXT(code, cuArrayCreate_v2, &array, &wanted);
    } else {
      const auto wanted = descriptor(shape);
      GVB_NEXT(code, cuArray3DCreate_v2, &array, &wanted);
    }
    block.handle = as_number(array);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuArrayDestroy, as_array(block.handle));
    return code;
  }

  CUresult write(const PathBlock& block, unsigned word) override {
    CUresult code = CUDA_SUCCESS;
    Row row;
    row.fill(word);
    for (const bool last : {false, true}) copy(code, block, row, last, true);
    return code;
  }
  bool holds(const PathBlock& block, unsigned word, CUresult& code) override {
    for (const bool last : {false, true}) {
      Row row{};
      copy(code, block, row, last, false);
      for (const unsigned read : row)
        if (code != CUDA_SUCCESS || read != word) return false;
    }
    return true;
  }

 protected:
  static abi::CUDA_ARRAY3D_DESCRIPTOR descriptor(const Shape& shape) {
    return {shape.width, shape.height, shape.depth, abi::CU_AD_FORMAT_FLOAT, 4, 0};
  }
  virtual abi::CUarray array_of(CUresult&, const PathBlock& block) { return as_array(block.handle); }
  Shape shape_of(const PathBlock& block) const {
    return path_ == MemoryPath::kArray3D ? deep_shape(block.bytes) : flat_shape(block.bytes);
  }

 private:
  using Row = std::array<unsigned, 64>;  // the beginning of a row

  void copy(CUresult& code, const PathBlock& block, Row& row, bool last, bool to_array) {
    const Shape shape = shape_of(block);
    abi::CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = to_array ? abi::CU_MEMORYTYPE_HOST : abi::CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? abi::CU_MEMORYTYPE_ARRAY : abi::CU_MEMORYTYPE_HOST;
    (to_array ? copy.dstArray : copy.srcArray) = array_of(code, block);
    if (to_array)
      copy.srcHost = row.data();
    else
      copy.dstHost = row.data();
    if (last) {
      (to_array ? copy.dstY : copy.srcY) = shape.height - 1;
      (to_array ? copy.dstZ : copy.srcZ) = shape.depth > 0 ? shape.depth - 1 : 0;
    }
    copy.WidthInBytes = sizeof row;
    (to_array ? copy.srcPitch : copy.dstPitch) = sizeof row;
    (to_array ? copy.srcHeight : copy.dstHeight) = 1;
    copy.Height = copy.Depth = 1;
    GVB_NEXT(code, cuMemcpy3D_v2, &copy);
  }

  const MemoryPath path_;
};

class MipmappedArrays : public Arrays {
 public:
  MipmappedArrays(DeviceSession& owner, MemoryPath path) : Arrays(owner, path) { GVB_NEEDS(cuMipmappedArrayDestroy); }
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    abi::CUmipmappedArray array = nullptr;
    const auto wanted = descriptor(shape_of(block));
    GVB_NEXT(code, cuMipmappedArrayCreate, &array, &wanted, 1U);
    block.handle = as_number(array);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMipmappedArrayDestroy, reinterpret_cast<abi::CUmipmappedArray>(block.handle));
    return code;
  }

 protected:
  abi::CUarray array_of(CUresult& code, const PathBlock& block) override {
    abi::CUarray level = nullptr;
    GVB_NEXT(code, cuMipmappedArrayGetLevel, &level, reinterpret_cast<abi::CUmipmappedArray>(block.handle), 0U);
    return level;
  }
};

}  // namespace

std::unique_ptr<PathAllocator> make_array_path(DeviceSession& session, MemoryPath path) {
  if (path == MemoryPath::kMipmappedArray) return std::make_unique<MipmappedArrays>(session, path);
  return std::make_unique<Arrays>(session, path);
}

}  // namespace gvb
