// Memory created as a handle and mapped: cuMemCreate, and what keeps the memory alive after that handle is released.
#include <unistd.h>

#include "bench/blocks.h"
#include "bench/memory_path.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

class VirtualMemory : public PathAllocator {
 public:
  VirtualMemory(DeviceSession& owner, MemoryPath path) : PathAllocator(owner), path_(path) {
    properties_.type = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, session.device};
    if (path == MemoryPath::kImportedHandle)
      properties_.requestedHandleTypes = abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (path == MemoryPath::kImportedHandle) {
      GVB_NEEDS(cuMemExportToShareableHandle);
      GVB_NEEDS(cuMemImportFromShareableHandle);
    }
    GVB_NEEDS(cuMemAddressReserve);
    GVB_NEEDS(cuMemMap);
    GVB_NEEDS(cuMemSetAccess);
    GVB_NEEDS(cuMemAddressFree);
    GVB_NEEDS(cuMemUnmap);
    GVB_NEEDS(cuMemRelease);
  }
  PathSizes sizes() const override { return {allocation_granularity(session), size_t{64} << 30}; }

  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemCreate, &block.handle, block.bytes, &properties_, 0ULL);
    if (code != CUDA_SUCCESS) return code;
    if (path_ == MemoryPath::kImportedHandle) code = replace_by_import(block);
    if (code == CUDA_SUCCESS) code = map(block);
    if (code != CUDA_SUCCESS) {
      if (block.handle) cuda.try_call(cuda.api.cuMemRelease, block.handle);
      return code;
    }
    if (path_ == MemoryPath::kMemCreateReleased && GVB_NEXT(code, cuMemRelease, block.handle)) block.handle = 0;
    return code;
  }

  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemUnmap, block.pointer, block.bytes);
    if (block.handle) GVB_NEXT(code, cuMemRelease, block.handle);
    GVB_NEXT(code, cuMemAddressFree, block.pointer, block.bytes);
    return code;
  }

 private:
  CUresult replace_by_import(PathBlock& block) {
    CUresult code = CUDA_SUCCESS;
    constexpr int kType = abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    int file = -1;
    abi::CUmemGenericAllocationHandle imported = 0;
    GVB_NEXT(code, cuMemExportToShareableHandle, static_cast<void*>(&file), block.handle, kType, 0ULL);
    GVB_NEXT(code, cuMemImportFromShareableHandle, &imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
             kType);
    if (file >= 0) close(file);
    if (!GVB_NEXT(code, cuMemRelease, block.handle)) {
      if (imported) cuda.try_call(cuda.api.cuMemRelease, imported);
      return code;
    }
    block.handle = imported;
    return code;
  }

  CUresult map(PathBlock& block) {
    CUresult code = CUDA_SUCCESS;
    const abi::CUmemAccessDesc access = {properties_.location, abi::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!GVB_NEXT(code, cuMemAddressReserve, &block.pointer, block.bytes, size_t{0}, abi::CUdeviceptr{0}, 0ULL))
      return code;
    const bool mapped = GVB_NEXT(code, cuMemMap, block.pointer, block.bytes, size_t{0}, block.handle, 0ULL);
    if (GVB_NEXT(code, cuMemSetAccess, block.pointer, block.bytes, &access, size_t{1})) return code;
    if (mapped) cuda.try_call(cuda.api.cuMemUnmap, block.pointer, block.bytes);
    cuda.try_call(cuda.api.cuMemAddressFree, block.pointer, block.bytes);
    return code;
  }

  const MemoryPath path_;
  abi::CUmemAllocationProp properties_{};
};

}  // namespace

std::unique_ptr<PathAllocator> make_virtual_path(DeviceSession& session, MemoryPath path) {
  return std::make_unique<VirtualMemory>(session, path);
}

}  // namespace gvb
