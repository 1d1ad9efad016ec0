#include "sim/memory/pool.h"

#include <algorithm>
#include <mutex>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/memory/allocation.h"
#include "sim/memory/residues.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

constexpr int64_t kStep = 32 * kMiB;

struct Pool {
  std::mutex mutex;
  int64_t reserved = 0;
  int64_t reserved_high = 0;
  int64_t used_high = 0;
  int64_t used = 0;
  uint64_t threshold = 0;
  std::atomic<int64_t> idle{0};  // reserved - used: lets a synchronisation skip the lock
};

Pool* pools() {
  static Pool* const all = new Pool[kMaxDevices];
  return all;
}

// Pools have handles of their own kind, because only their lifetime is the device's.
constexpr uint64_t kPoolTag = 0x19ULL << 56;

Pool* pool_of(abi::CUmemoryPool handle) {
  const uint64_t index = reinterpret_cast<uint64_t>(handle) ^ kPoolTag;
  return index < static_cast<uint64_t>(settings().places) ? &pools()[index] : nullptr;
}

void trim_locked(int device, Pool* pool, int64_t keep) {
  const int64_t remaining = std::min(pool->reserved, std::max(keep, pool->used));
  region().give(device, pool->reserved - remaining);
  pool->reserved = remaining;
  pool->idle.store(pool->reserved - pool->used, std::memory_order_relaxed);
}

abi::CUresult allocate_from_pool(int device, size_t bytes, abi::CUdeviceptr* address) {
  RecordedCall::of_bytes(bytes);
  if (address == nullptr || bytes == 0) return abi::CUDA_ERROR_INVALID_VALUE;
  if (is_too_large(card_settings(device), bytes)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  const auto counted = static_cast<int64_t>(footprint(bytes));
  if (!pool_take(device, counted)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  *address = take_device_addresses(device, bytes);
  if (*address == 0) {
    pool_give(device, counted);
    return abi::CUDA_ERROR_OUT_OF_MEMORY;
  }
  const Block block = {*address, bytes, BlockKind::kPool, device, 0, 0, true};
  register_block(block);
  begin_residue(block);
  return abi::CUDA_SUCCESS;
}

}  // namespace

bool pool_take(int device, int64_t bytes) {
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
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.idle.store(pool.reserved - pool.used, std::memory_order_relaxed);
  return true;
}

void pool_give(int device, int64_t bytes) {
  Pool& pool = pools()[device];
  std::lock_guard<std::mutex> lock(pool.mutex);
  pool.used -= bytes;
  pool.idle.store(pool.reserved - pool.used, std::memory_order_relaxed);
}

void pool_trim(int device, int64_t keep) {
  Pool& pool = pools()[device];
  std::lock_guard<std::mutex> lock(pool.mutex);
  trim_locked(device, &pool, keep);
}

void pool_trim_to_threshold(int device) {
  Pool& pool = pools()[device];
  if (pool.idle.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard<std::mutex> lock(pool.mutex);
  trim_locked(device, &pool, static_cast<int64_t>(std::min<uint64_t>(pool.threshold, INT64_MAX)));
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::HostCost;
using sim::Pool;

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetDefaultMemPool);
  const int physical = sim::physical_device(device);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (physical < 0) return CUDA_ERROR_INVALID_DEVICE;
  *pool = reinterpret_cast<CUmemoryPool>(sim::kPoolTag | static_cast<uint64_t>(physical));
  return CUDA_SUCCESS;
}

// There is only the default pool, so it is the current one.
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGetMemPool);
  return cuDeviceGetDefaultMemPool(pool, device);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemAllocAsync, stream_handle);
  const HostCost cost(sim::settings().alloc_async_us * 1e3);
  return sim::allocate_from_pool(context->device, bytes, address);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemAllocFromPoolAsync, stream_handle);
  const HostCost cost(sim::settings().alloc_async_us * 1e3);
  const Pool* pool = sim::pool_of(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return sim::allocate_from_pool(static_cast<int>(pool - sim::pools()), bytes, address);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemFreeAsync, stream_handle);
  if (address == 0) return CUDA_SUCCESS;
  const HostCost cost(sim::settings().free_async_us * 1e3);
  const auto block = sim::find_block(address);
  if (!block || block->address != address) return CUDA_ERROR_INVALID_VALUE;
  if (!sim::is_freed_by_address(block->kind) || block->kind == sim::BlockKind::kManaged)
    return CUDA_ERROR_INVALID_VALUE;
  if (!sim::remove_block(address)) return CUDA_ERROR_INVALID_VALUE;
  if (context->queue->idle())
    sim::free_block(*block);
  else {
    sim::Work work;
    work.seen = sim::Seen::kWhenOver;
    work.writes = {sim::range_of(address, block->bytes)};
    work.run = [freed = *block](const sim::Placement&) { sim::free_block(freed); };
    sim::enqueue(stream, 0, {}, std::move(work));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  GVB_SIM_ENTER(cuMemPoolGetAttribute);
  Pool* pool = sim::pool_of(handle);
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
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->reserved_high);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->used_high);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *static_cast<uint64_t*>(value) = static_cast<uint64_t>(pool->used);
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  GVB_SIM_ENTER(cuMemPoolSetAttribute);
  Pool* pool = sim::pool_of(handle);
  if (pool == nullptr || value == nullptr || attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->threshold = *static_cast<const uint64_t*>(value);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  GVB_SIM_ENTER(cuMemPoolTrimTo);
  Pool* pool = sim::pool_of(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  sim::pool_trim(static_cast<int>(pool - sim::pools()), static_cast<int64_t>(std::min<size_t>(keep, INT64_MAX)));
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
