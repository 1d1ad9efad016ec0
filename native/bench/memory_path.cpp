#include "bench/memory_path.h"

#include "bench/blocks.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdeviceptr;
using abi::CUresult;

CUresult PathAllocator::write(const PathBlock& block, unsigned word) {
  CUresult code = CUDA_SUCCESS;
  GVB_NEXT(code, cuMemsetD8_v2, block.pointer, static_cast<unsigned char>(0), block.bytes);
  GVB_NEXT(code, cuMemsetD32_v2, block.pointer, word, size_t{1});
  GVB_NEXT(code, cuMemsetD32_v2, block.pointer + block.bytes / 8 * 4, word, size_t{1});
  GVB_NEXT(code, cuMemsetD32_v2, block.pointer + (block.bytes - 4) / 4 * 4, word, size_t{1});
  // Managed memory is on the card once this returns.
  GVB_NEXT(code, cuCtxSynchronize);
  return code;
}

bool PathAllocator::holds(const PathBlock& block, unsigned word, CUresult& code) {
  for (const size_t at : {size_t{0}, block.bytes / 8 * 4, (block.bytes - 4) / 4 * 4}) {
    unsigned read = ~word;
    if (!GVB_NEXT(code, cuMemcpyDtoH_v2, &read, block.pointer + at, sizeof read) || read != word) return false;
  }
  return true;
}

namespace {

constexpr size_t kMiB = 1 << 20;
constexpr PathSizes kLinear = {64 << 10, size_t{64} << 30};

class Direct : public PathAllocator {
 public:
  explicit Direct(DeviceSession& owner) : PathAllocator(owner) { GVB_NEEDS(cuMemFree_v2); }
  PathSizes sizes() const override { return kLinear; }
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemAlloc_v2, &block.pointer, block.bytes);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemFree_v2, block.pointer);
    return code;
  }
};

// If the driver rounds up and a layer counts the requested size, each block takes nearly one granule more than is
// counted.
class SmallBlocks : public Direct {
 public:
  using Direct::Direct;
  PathSizes sizes() const override {
    const size_t bytes = allocation_granularity(session) + 1;
    return {bytes, bytes};
  }
};

class Pitched : public Direct {
 public:
  using Direct::Direct;
  // A row of 1 MiB needs no padding.
  PathSizes sizes() const override { return {kMiB, size_t{4} << 30}; }
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    size_t pitch = 0;
    GVB_NEXT(code, cuMemAllocPitch_v2, &block.pointer, &pitch, kMiB, block.bytes / kMiB, 16U);
    return code;
  }
};

class Managed : public Direct {
 public:
  using Direct::Direct;
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemAllocManaged, &block.pointer, block.bytes, abi::CU_MEM_ATTACH_GLOBAL);
    return code;
  }
  // Only for speed: page faults move the memory to the card at some 14 GB/s.
  CUresult write(const PathBlock& block, unsigned word) override {
    cuda.try_call(cuda.api.cuMemPrefetchAsync, block.pointer, block.bytes, session.device, nullptr);
    return Direct::write(block, word);
  }
};

class Pooled : public PathAllocator {
 public:
  Pooled(DeviceSession& owner, bool named) : PathAllocator(owner), named_(named), stream_(make_stream(cuda)) {
    GVB_CALL(cuda, "finding the memory pool", cuDeviceGetDefaultMemPool, &pool_, session.device);
    if (named_)
      GVB_NEEDS(cuMemAllocFromPoolAsync);
    else
      GVB_NEEDS(cuMemAllocAsync);
    GVB_NEEDS(cuMemFreeAsync);
    GVB_NEEDS(cuStreamSynchronize);
  }
  PathSizes sizes() const override { return {2 * kMiB, kLinear.largest}; }
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    if (named_)
      GVB_NEXT(code, cuMemAllocFromPoolAsync, &block.pointer, block.bytes, pool_, stream_.get());
    else
      GVB_NEXT(code, cuMemAllocAsync, &block.pointer, block.bytes, stream_.get());
    // From here on other streams may use it.
    GVB_NEXT(code, cuStreamSynchronize, stream_.get());
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemFreeAsync, block.pointer, stream_.get());
    return code;
  }
  void finish() override {
    cuda.try_call(cuda.api.cuStreamSynchronize, stream_.get());
    cuda.try_call(cuda.api.cuMemPoolTrimTo, pool_, 0);
  }

 private:
  const bool named_;
  const Stream stream_;
  abi::CUmemoryPool pool_ = nullptr;
};

// Host memory; it takes none of the card's unless a layer or the driver counts it so.
class Pinned : public PathAllocator {
 public:
  explicit Pinned(DeviceSession& owner) : PathAllocator(owner) {
    GVB_NEEDS(cuMemHostGetDevicePointer_v2);
    GVB_NEEDS(cuMemFreeHost);
  }
  PathSizes sizes() const override { return {2 * kMiB, 64 * kMiB}; }
  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemHostAlloc, &block.host, block.bytes, abi::CU_MEMHOSTALLOC_DEVICEMAP);
    if (!GVB_NEXT(code, cuMemHostGetDevicePointer_v2, &block.pointer, block.host, 0U) && block.host)
      cuda.try_call(cuda.api.cuMemFreeHost, block.host);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemFreeHost, block.host);
    return code;
  }
};

}  // namespace

std::unique_ptr<PathAllocator> make_path(DeviceSession& session, MemoryPath path) {
  switch (path) {
    case MemoryPath::kMemAlloc:
      return std::make_unique<Direct>(session);
    case MemoryPath::kSmallBlocks:
      return std::make_unique<SmallBlocks>(session);
    case MemoryPath::kMemAllocPitch:
      return std::make_unique<Pitched>(session);
    case MemoryPath::kMemAllocManaged:
      return std::make_unique<Managed>(session);
    case MemoryPath::kMemAllocAsync:
    case MemoryPath::kMemAllocFromPoolAsync:
      return std::make_unique<Pooled>(session, path == MemoryPath::kMemAllocFromPoolAsync);
    case MemoryPath::kHostAlloc:
      return std::make_unique<Pinned>(session);
    case MemoryPath::kMemCreate:
    case MemoryPath::kMemCreateReleased:
    case MemoryPath::kImportedHandle:
      return make_virtual_path(session, path);
    case MemoryPath::kArray:
    case MemoryPath::kArray3D:
    case MemoryPath::kMipmappedArray:
      return make_array_path(session, path);
    case MemoryPath::kGraphNode:
      return make_graph_path(session);
    case MemoryPath::kModuleGlobal:
      return make_module_path(session);
  }
  return nullptr;
}

}  // namespace gvb
