#include "bench/memory_pool.h"

namespace gvb {

using abi::CUmemoryPool;

CUmemoryPool default_pool(const DeviceSession& session) {
  CUmemoryPool pool = nullptr;
  GVB_CALL(session.cuda, "finding the memory pool", cuDeviceGetDefaultMemPool, &pool, session.device);
  return pool;
}

PoolState pool_state(const Cuda& cuda, CUmemoryPool pool) {
  const auto attribute = [&](abi::CUmemPool_attribute which) -> std::optional<uint64_t> {
    unsigned long long value = 0;
    const auto get = cuda.api.cuMemPoolGetAttribute;
    if (!get || get(pool, which, &value) != abi::CUDA_SUCCESS) return std::nullopt;
    return value;
  };
  return {attribute(abi::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), attribute(abi::CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
          attribute(abi::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)};
}

WarmPool::WarmPool(const DeviceSession& session, abi::CUstream stream)
    : cuda_(session.cuda), stream_(stream), pool_(default_pool(session)), found_(pool_state(cuda_, pool_)) {
  GVB_CALL(cuda_, "reading the pool's threshold", cuMemPoolGetAttribute, pool_, abi::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
           &threshold_);
  unsigned long long keep = ~0ULL;
  GVB_CALL(cuda_, "setting the pool's threshold", cuMemPoolSetAttribute, pool_, abi::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
           &keep);
}

WarmPool::~WarmPool() {
  cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_);
  cuda_.try_call(cuda_.api.cuMemPoolSetAttribute, pool_, abi::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold_);
  cuda_.try_call(cuda_.api.cuMemPoolTrimTo, pool_, found_.reserved_bytes.value_or(0));
}

void warm_pool(const Cuda& cuda, size_t bytes, abi::CUstream stream) {
  abi::CUdeviceptr block = 0;
  cuda.require(cuda.api.cuMemFreeAsync, "cuMemFreeAsync");
  GVB_CALL(cuda, "warming the memory pool", cuMemAllocAsync, &block, bytes, stream);
  GVB_CALL(cuda, "warming the memory pool", cuMemFreeAsync, block, stream);
  GVB_CALL(cuda, "warming the memory pool", cuStreamSynchronize, stream);
}

}  // namespace gvb
