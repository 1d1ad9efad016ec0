// A block of device memory from one of four ways to allocate. Allocation and release are separate calls, so that a
// measurement can time either.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class AllocationApi { kMemAlloc, kMemCreate, kAllocAsync, kAllocFromPool };

struct Block {
  abi::CUdeviceptr pointer = 0;
  abi::CUmemGenericAllocationHandle handle = 0;  // for virtual memory
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  // Untimed part before the allocation (for virtual memory: reserving addresses).
  virtual Block prepare() { return {}; }
  // Only the allocation. Returns the driver's code; on failure nothing stays allocated.
  virtual abi::CUresult allocate(Block& block) = 0;
  virtual abi::CUresult release(const Block& block) = 0;
  // Untimed part after the release, or after a failed allocation.
  virtual void retire(const Block&) {}
  // For virtual memory: when the last allocate had its memory, which it then mapped; nullopt elsewhere.
  virtual std::optional<int64_t> created_at() const { return std::nullopt; }
  // The call that returned the last failure of allocate or release.
  virtual const char* failed_call() const = 0;
};

// For kMemCreate `bytes` must be a multiple of the granularity.
std::unique_ptr<Allocator> make_allocator(DeviceSession& session, AllocationApi api, size_t bytes,
                                          abi::CUstream stream);
// Uses cuMemAlloc and cuMemFree of those functions, which must outlive it.
std::unique_ptr<Allocator> make_direct_allocator(const Cuda& cuda, size_t bytes);

// cuMemGetAllocationGranularity, or 2 MiB if virtual memory management is not supported.
size_t allocation_granularity(const DeviceSession& session);

// Throws if two of the blocks overlap, or one is null.
void check_disjoint(std::vector<abi::CUdeviceptr> pointers, size_t bytes);

// Throws unless `block` is usable memory of at least `bytes`: checks its address range, and writes and reads back its
// first and last word.
void verify_block(const Cuda& cuda, abi::CUdeviceptr block, size_t bytes, abi::CUstream stream);

}  // namespace gvb
