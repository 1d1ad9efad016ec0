// LLM-005: repeated pairs of an allocation and its free, from a warm pool or directly; and a request beyond the limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/blocks.h"
#include "bench/memory_pool.h"

namespace gvb {

struct PoolPairsRequest {
  AllocationApi api = AllocationApi::kAllocAsync;
  size_t bytes = 0;
  unsigned count = 0;
  unsigned warmup = 0;
  size_t warm_bytes = 0;  // held by the pool before the first pair
  bool bare = false;      // by the driver's own functions
};

struct PoolPairs {
  std::vector<double> alloc_ns;
  std::vector<double> free_ns;
  // State of the default pool before and after all pairs and their preparation.
  PoolState before, after;
  // Device memory of this process before all of it and while the pool is warm; nullopt if NVML cannot report it.
  std::optional<uint64_t> used_before, used_warm;
};

PoolPairs measure_pool_pairs(DeviceSession& session, const PoolPairsRequest& request);

struct PoolRefusalRequest {
  AllocationApi api = AllocationApi::kAllocAsync;
  size_t bytes = 0;
};

struct PoolRefusal {
  bool granted = false;
  std::string name;  // the driver's name of the code that the request, or waiting for it, returned
  abi::CUresult code = abi::CUDA_SUCCESS;
  PoolState before, after;
};

// Asks the pool for more than the limit allows. Granted memory is freed.
PoolRefusal ask_pool_for(DeviceSession& session, const PoolRefusalRequest& request);

}  // namespace gvb
