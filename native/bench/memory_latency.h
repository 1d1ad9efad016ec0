// OH-002's and OH-003's blocks: one allocation or one free per sample, among a fixed number of live blocks.
#pragma once

#include <optional>
#include <vector>

#include "bench/blocks.h"

namespace gvb {

struct AllocationRequest {
  AllocationApi api;
  size_t bytes;  // 0: the allocation granularity
  unsigned live;
  unsigned count;
  unsigned warmup;
};

struct AllocationBlock {
  size_t bytes;
  unsigned live;
  std::vector<double> alloc_ns;
  std::vector<double> free_ns;  // oldest first
};

AllocationBlock measure_allocations(DeviceSession& session, const AllocationRequest& request);

enum class FreeOrder { kFifo, kLifo, kRandom };

struct FreeRequest {
  size_t bytes;  // 0: the allocation granularity
  unsigned live;
  FreeOrder order;
  unsigned count;
  unsigned warmup;
  uint64_t seed;
};

struct FreeBlock {
  size_t bytes;
  unsigned live;
  std::vector<double> free_ns;
  // Bytes in use on the device by this process, before and after the block; nullopt where NVML cannot tell.
  std::optional<uint64_t> used_before;
  std::optional<uint64_t> used_after;
};

FreeBlock measure_frees(DeviceSession& session, const FreeRequest& request);

// The code a second free of one pointer returns. Some layers leak or worse: run it last.
abi::CUresult measure_double_free(DeviceSession& session);

}  // namespace gvb
