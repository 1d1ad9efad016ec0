// A block of device memory obtained in one of four ways, with the allocation and the release as separate calls, so
// that a measurement can time either.
#pragma once

#include <memory>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class AllocationApi { kMemAlloc, kMemCreate, kAllocAsync, kAllocFromPool };

struct Block {
  abi::CUdeviceptr pointer = 0;
  abi::CUmemGenericAllocationHandle handle = 0;  // of virtual memory
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  // Untimed part before the allocation (the reservation of addresses, for virtual memory).
  virtual Block prepare() { return {}; }
  // The allocation alone. Returns the driver's code and, on failure, leaves nothing allocated.
  virtual abi::CUresult allocate(Block& block) = 0;
  virtual abi::CUresult release(const Block& block) = 0;
  // Untimed part after the release, or after an allocation that failed.
  virtual void retire(const Block&) {}
  // The call that returned the last failure of allocate or release.
  virtual const char* failed_call() const = 0;
};

// `bytes` is a multiple of the granularity for kMemCreate.
std::unique_ptr<Allocator> make_allocator(DeviceSession& session, AllocationApi api, size_t bytes,
                                          abi::CUstream stream);
// cuMemAlloc and cuMemFree of those functions, which outlive it.
std::unique_ptr<Allocator> make_direct_allocator(const Cuda& cuda, size_t bytes);

// cuMemGetAllocationGranularity, or 2 MiB where virtual memory management is not offered.
size_t allocation_granularity(const DeviceSession& session);

// Throws where two of the blocks overlap, or one is none.
void check_disjoint(std::vector<abi::CUdeviceptr> pointers, size_t bytes);

// Whether `block` is usable memory of at least `bytes`: its address range, and its first and last word written and
// read back. Throws otherwise.
void verify_block(const Cuda& cuda, abi::CUdeviceptr block, size_t bytes, abi::CUstream stream);

}  // namespace gvb
