// OH-002's and OH-003's blocks: one allocation or one free per sample, with a fixed number of live blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/live_blocks.h"

namespace gvb {

struct AllocationRequest {
  AllocationApi api = AllocationApi::kMemAlloc;
  size_t bytes = 0;  // 0: the allocation granularity
  unsigned live = 0;
  unsigned count = 0;
  unsigned warmup = 0;
  bool bare = false;  // by the driver's own functions
};

struct AllocationBlock {
  size_t bytes = 0;
  unsigned live = 0;
  std::vector<double> alloc_ns;
  std::vector<double> create_ns;  // for virtual memory: cuMemCreate alone
  std::vector<double> free_ns;    // oldest first
  // Device memory of this process before the live blocks and with them; nothing if NVML cannot report it.
  std::optional<uint64_t> used_before, used_live;
};

AllocationBlock measure_allocations(DeviceSession& session, const AllocationRequest& request);

struct FreeRequest {
  size_t bytes = 0;  // 0: the allocation granularity
  unsigned live = 1;
  FreeOrder order = FreeOrder::kFifo;
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;
};

struct FreeBlock {
  size_t bytes = 0;
  unsigned live = 0;
  std::vector<double> free_ns;
  // Bytes that this process uses on the device, before and after the block; nullopt if NVML cannot report it.
  std::optional<uint64_t> used_before;
  std::optional<uint64_t> used_after;
};

FreeBlock measure_frees(DeviceSession& session, const FreeRequest& request);

struct DriverCode {
  abi::CUresult code = abi::CUDA_SUCCESS;
  std::string name;
};

// The code of freeing a pointer twice. Some layers leak or worse on it, so run it last.
DriverCode measure_double_free(DeviceSession& session);

}  // namespace gvb
