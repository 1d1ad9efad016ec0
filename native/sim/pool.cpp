#include "sim/pool.h"

#include <algorithm>
#include <mutex>

#include "sim/address_space.h"
#include "sim/allocation.h"
#include "sim/clock.h"
#include "sim/context.h"
#include "sim/exports.h"

namespace gvb::sim {
namespace {

constexpr int64_t kStep = 32 * kMiB;

struct Pool {
  std::mutex mutex;
  int64_t reserved = 0;
  int64_t reservedHigh = 0;
  int64_t usedHigh = 0;
  int64_t used = 0;
  uint64_t threshold = 0;
  std::atomic<int64_t> idle{0};  // reserved - used, to skip the lock when synchronising
};

Pool* pools() {
  static Pool* const all = new Pool[kMaxDevices];
  return all;
}

// Handles of pools: the only object whose lifetime is the device's.
constexpr uint64_t kPoolTag = 0x19ULL << 56;

Pool* poolOf(abi::CUmemoryPool handle) {
  const uint64_t index = reinterpret_cast<uint64_t>(handle) ^ kPoolTag;
  return index < static_cast<uint64_t>(settings().devices) ? &pools()[index] : nullptr;
}

void trimLocked(int device, Pool* pool, int64_t keep) {
  const int64_t remaining = std::min(pool->reserved, std::max(keep, pool->used));
  region().give(device, pool->reserved - remaining);
  pool->reserved = remaining;
  pool->idle.store(pool->reserved - pool->used, std::memory_order_relaxed);
}

}  // namespace

bool poolTake(int device, int64_t bytes) {
  Pool& pool = pools()[device];
  std::lock_guard<std::mutex> lock(pool.mutex);
  const int64_t lacking = pool.used + bytes - pool.reserved;
  if (lacking > 0) {
    const int64_t step = (lacking + kStep - 1) / kStep * kStep;
    const bool whole = region().take(device, step);
    if (!whole && !region().take(device, lacking)) return false;
    pool.reserved += whole ? step : lacking;
  }
  pool.used += bytes;
  pool.reservedHigh = std::max(pool.reservedHigh, pool.reserved);
  pool.usedHigh = std::max(pool.usedHigh, pool.used);
  pool.idle.store(pool.reserved - pool.used, std::memory_order_relaxed);
  return true;
}

void poolGive(int device, int64_t bytes) {
  Pool& pool = pools()[device];
  std::lock_guard<std::mutex> lock(pool.mutex);
  pool.used -= bytes;
  pool.idle.store(pool.reserved - pool.used, std::memory_order_relaxed);
}

void poolTrim(int device, int64_t keep) {
  Pool& pool = pools()[device];
  std::lock_guard<std::mutex> lock(pool.mutex);
  trimLocked(device, &pool, keep);
}

void poolTrimToThreshold(int device) {
  Pool& pool = pools()[device];
  if (pool.idle.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard<std::mutex> lock(pool.mutex);
  trimLocked(device, &pool, static_cast<int64_t>(std::min<uint64_t>(pool.threshold, INT64_MAX)));
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::HostCost;
using sim::Pool;

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetDefaultMemPool);
  const int physical = sim::physicalDevice(device);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (physical < 0) return CUDA_ERROR_INVALID_DEVICE;
  *pool = reinterpret_cast<CUmemoryPool>(sim::kPoolTag | static_cast<uint64_t>(physical));
  return CUDA_SUCCESS;
}

// The current pool is the default one: there is no other.
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetMemPool);
  return cuDeviceGetDefaultMemPool(pool, device);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemAllocAsync, streamHandle);
  const HostCost cost(sim::settings().alloc_async_us * 1e3);
  sim::RecordedCall::ofBytes(bytes);
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > static_cast<size_t>(sim::settings().memory_mib * sim::kMiB)) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto counted = static_cast<int64_t>(sim::footprint(bytes));
  if (!sim::poolTake(context->device, counted)) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = sim::takeDeviceAddresses(context->device, bytes);
  if (*address == 0) {
    sim::poolGive(context->device, counted);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  sim::registerBlock({*address, bytes, sim::BlockKind::kPool, context->device, 0, 0, true});
  return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemFreeAsync, streamHandle);
  if (address == 0) return CUDA_SUCCESS;
  const HostCost cost(sim::settings().free_async_us * 1e3);
  const auto block = sim::findBlock(address);
  if (!block || block->address != address) return CUDA_ERROR_INVALID_VALUE;
  if (block->kind != sim::BlockKind::kPool && block->kind != sim::BlockKind::kDevice) return CUDA_ERROR_INVALID_VALUE;
  if (!sim::removeBlock(address)) return CUDA_ERROR_INVALID_VALUE;
  if (context->queue->idle())
    sim::freeBlock(*block);
  else
    sim::enqueue(stream, 0, [freed = *block] { sim::freeBlock(freed); });
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  GVB_SIM_ENTER(cuMemPoolGetAttribute);
  Pool* pool = sim::poolOf(handle);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(pool->mutex);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *static_cast<uint64_t*>(value) = pool->threshold;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->reserved);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->reservedHigh);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->usedHigh);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->used);
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  GVB_SIM_ENTER(cuMemPoolSetAttribute);
  Pool* pool = sim::poolOf(handle);
  if (pool == nullptr || value == nullptr || attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->threshold = *static_cast<const uint64_t*>(value);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  GVB_SIM_ENTER(cuMemPoolTrimTo);
  Pool* pool = sim::poolOf(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  sim::poolTrim(static_cast<int>(pool - sim::pools()), static_cast<int64_t>(std::min<size_t>(keep, INT64_MAX)));
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
