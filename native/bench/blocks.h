// A block of device memory obtained in one of three ways, with the allocation and the release as separate calls, so
// that a measurement can time either.
#pragma once

#include <memory>

#include "bench/device_session.h"

namespace gvb {

enum class AllocationApi { kMemAlloc, kMemCreate, kAllocAsync };

class Allocator {
 public:
  virtual ~Allocator() = default;
  // Untimed part before the allocation (the reservation of addresses, for virtual memory).
  virtual abi::CUdeviceptr prepare() { return 0; }
  // The allocation alone. Returns the driver's code; on success `block` holds the pointer.
  virtual abi::CUresult allocate(abi::CUdeviceptr& block) = 0;
  virtual abi::CUresult release(abi::CUdeviceptr block) = 0;
  // Untimed part after the release.
  virtual void retire(abi::CUdeviceptr) {}
  virtual const char* allocate_name() const = 0;
  virtual const char* release_name() const = 0;
};

// `bytes` is a multiple of the granularity for kMemCreate.
std::unique_ptr<Allocator> make_allocator(DeviceSession& session, AllocationApi api, size_t bytes,
                                          abi::CUstream stream);

// cuMemGetAllocationGranularity, or 2 MiB where virtual memory management is not offered.
size_t allocation_granularity(const DeviceSession& session);

// Whether `block` is usable memory of at least `bytes`: its address range, and its first and last word written and
// read back. Throws otherwise.
void verify_block(const DeviceSession& session, abi::CUdeviceptr block, size_t bytes, abi::CUstream stream);

}  // namespace gvb
