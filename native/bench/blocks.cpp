#include "bench/blocks.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/memory_pool.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdeviceptr;
using abi::CUresult;

namespace {

constexpr size_t kDefaultGranularity = 2 << 20;

abi::CUmemAllocationProp pinned_on(abi::CUdevice device) {
  abi::CUmemAllocationProp properties{};
  properties.type = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

class DirectAllocator : public Allocator {
 public:
  DirectAllocator(const Cuda& cuda, size_t bytes)
      : bytes_(bytes),
        allocate_(cuda.require(cuda.api.cuMemAlloc_v2, "cuMemAlloc_v2")),
        free_(cuda.require(cuda.api.cuMemFree_v2, "cuMemFree_v2")) {}
  CUresult allocate(Block& block) override {
    failed_ = "cuMemAlloc_v2";
    return allocate_(&block.pointer, bytes_);
  }
  CUresult release(const Block& block) override {
    failed_ = "cuMemFree_v2";
    return free_(block.pointer);
  }
  const char* failed_call() const override { return failed_; }

 private:
  const size_t bytes_;
  decltype(CudaApi::cuMemAlloc_v2) allocate_;
  decltype(CudaApi::cuMemFree_v2) free_;
  const char* failed_ = "";
};

class VirtualAllocator : public Allocator {
 public:
  VirtualAllocator(const DeviceSession& session, size_t bytes)
      : cuda_(session.cuda),
        bytes_(bytes),
        properties_(pinned_on(session.device)),
        access_{properties_.location, abi::CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        create_(cuda_.require(cuda_.api.cuMemCreate, "cuMemCreate")),
        map_(cuda_.require(cuda_.api.cuMemMap, "cuMemMap")),
        set_access_(cuda_.require(cuda_.api.cuMemSetAccess, "cuMemSetAccess")),
        unmap_(cuda_.require(cuda_.api.cuMemUnmap, "cuMemUnmap")),
        release_(cuda_.require(cuda_.api.cuMemRelease, "cuMemRelease")) {
    cuda_.require(cuda_.api.cuMemAddressFree, "cuMemAddressFree");
  }
  Block prepare() override {
    Block block;
    GVB_CALL(cuda_, "reserving addresses", cuMemAddressReserve, &block.pointer, bytes_, 0, 0, 0);
    return block;
  }
  CUresult allocate(Block& block) override {
    failed_ = "cuMemCreate";
    CUresult code = create_(&block.handle, bytes_, &properties_, 0);
    created_at_ = now_ns();
    if (code != CUDA_SUCCESS) return code;
    failed_ = "cuMemMap";
    code = map_(block.pointer, bytes_, 0, block.handle, 0);
    if (code != CUDA_SUCCESS) {
      release_(block.handle);
      return code;
    }
    failed_ = "cuMemSetAccess";
    code = set_access_(block.pointer, bytes_, &access_, 1);
    if (code != CUDA_SUCCESS) {
      unmap_(block.pointer, bytes_);
      release_(block.handle);
    }
    return code;
  }
  CUresult release(const Block& block) override {
    failed_ = "cuMemUnmap";
    const CUresult unmapped = unmap_(block.pointer, bytes_);
    const CUresult released = release_(block.handle);
    if (unmapped != CUDA_SUCCESS) return unmapped;
    failed_ = "cuMemRelease";
    return released;
  }
  void retire(const Block& block) override { cuda_.try_call(cuda_.api.cuMemAddressFree, block.pointer, bytes_); }
  std::optional<int64_t> created_at() const override { return created_at_; }
  const char* failed_call() const override { return failed_; }

 private:
  const Cuda& cuda_;
  const size_t bytes_;
  const abi::CUmemAllocationProp properties_;
  const abi::CUmemAccessDesc access_;
  decltype(CudaApi::cuMemCreate) create_;
  decltype(CudaApi::cuMemMap) map_;
  decltype(CudaApi::cuMemSetAccess) set_access_;
  decltype(CudaApi::cuMemUnmap) unmap_;
  decltype(CudaApi::cuMemRelease) release_;
  int64_t created_at_ = 0;
  const char* failed_ = "";
};

class PoolAllocator : public Allocator {
 public:
  PoolAllocator(const DeviceSession& session, AllocationApi api, size_t bytes, abi::CUstream stream)
      : pool_(session, stream),
        bytes_(bytes),
        stream_(stream),
        named_(api == AllocationApi::kAllocFromPool),
        free_(session.cuda.require(session.cuda.api.cuMemFreeAsync, "cuMemFreeAsync")) {
    if (named_)
      from_pool_ = session.cuda.require(session.cuda.api.cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync");
    else
      allocate_ = session.cuda.require(session.cuda.api.cuMemAllocAsync, "cuMemAllocAsync");
  }
  CUresult allocate(Block& block) override {
    failed_ = named_ ? "cuMemAllocFromPoolAsync" : "cuMemAllocAsync";
    return named_ ? from_pool_(&block.pointer, bytes_, pool_.get(), stream_)
                  : allocate_(&block.pointer, bytes_, stream_);
  }
  CUresult release(const Block& block) override {
    failed_ = "cuMemFreeAsync";
    return free_(block.pointer, stream_);
  }
  const char* failed_call() const override { return failed_; }

 private:
  const WarmPool pool_;
  const size_t bytes_;
  const abi::CUstream stream_;
  const bool named_;
  decltype(CudaApi::cuMemAllocAsync) allocate_ = nullptr;
  decltype(CudaApi::cuMemAllocFromPoolAsync) from_pool_ = nullptr;
  decltype(CudaApi::cuMemFreeAsync) free_;
  const char* failed_ = "";
};

}  // namespace

std::unique_ptr<Allocator> make_allocator(DeviceSession& session, AllocationApi api, size_t bytes,
                                          abi::CUstream stream) {
  if (api == AllocationApi::kMemCreate) return std::make_unique<VirtualAllocator>(session, bytes);
  if (api == AllocationApi::kMemAlloc) return make_direct_allocator(session.cuda, bytes);
  return std::make_unique<PoolAllocator>(session, api, bytes, stream);
}

std::unique_ptr<Allocator> make_direct_allocator(const Cuda& cuda, size_t bytes) {
  return std::make_unique<DirectAllocator>(cuda, bytes);
}

size_t allocation_granularity(const DeviceSession& session) {
  const auto query = session.cuda.api.cuMemGetAllocationGranularity;
  size_t granularity = 0;
  const abi::CUmemAllocationProp properties = pinned_on(session.device);
  if (!query || query(&granularity, &properties, abi::CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
    return kDefaultGranularity;
  return granularity;
}

void check_disjoint(std::vector<CUdeviceptr> pointers, size_t bytes) {
  std::sort(pointers.begin(), pointers.end());
  for (size_t i = 0; i < pointers.size(); ++i)
    if (pointers[i] == 0 || (i > 0 && pointers[i] - pointers[i - 1] < bytes))
      throw Failure(FailureKind::kInvalidResult, "memory was handed out twice: two of " +
                                                     std::to_string(pointers.size()) + " live blocks of " +
                                                     std::to_string(bytes) + " bytes overlap.");
}

namespace {

// Where the function is missing, the words at both ends still prove the block.
void check_range(const Cuda& cuda, CUdeviceptr block, size_t bytes) {
  CUdeviceptr base = 0;
  size_t size = 0;
  if (!cuda.api.cuMemGetAddressRange_v2) return;
  GVB_CALL(cuda, "verifying an allocation", cuMemGetAddressRange_v2, &base, &size, block);
  if (block >= base && block + bytes <= base + size) return;
  throw Failure(FailureKind::kInvalidResult, "An allocation of " + std::to_string(bytes) +
                                                 " bytes succeeded but its address range holds only " +
                                                 std::to_string(size) + ".");
}

}  // namespace

void verify_block(const Cuda& cuda, CUdeviceptr block, size_t bytes, abi::CUstream stream) {
  // Stream-ordered memory may be used only after its stream has reached the allocation.
  GVB_CALL(cuda, "verifying an allocation", cuStreamSynchronize, stream);
  check_range(cuda, block, bytes);
  constexpr unsigned kPattern = 0x9e3779b9;
  for (const CUdeviceptr word : {block, block + bytes - sizeof(unsigned)}) {
    unsigned readback = 0;
    GVB_CALL(cuda, "verifying an allocation", cuMemsetD32_v2, word, kPattern, 1);
    GVB_CALL(cuda, "verifying an allocation", cuMemcpyDtoH_v2, &readback, word, sizeof readback);
    if (readback != kPattern)
      throw Failure(FailureKind::kInvalidResult, "Fresh device memory did not hold the word written to it.");
  }
}

}  // namespace gvb
