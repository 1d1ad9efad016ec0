#include "sim/memory/allocation.h"

#include <sys/mman.h>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/graph_memory.h"
#include "sim/memory/pool.h"
#include "sim/memory/residues.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

abi::CUresult allocate_host(Context* context, size_t bytes, unsigned flags, void** at) {
  if (at == nullptr || bytes == 0) return abi::CUDA_ERROR_INVALID_VALUE;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  *at = pages;
  const Block block = {
      reinterpret_cast<uint64_t>(pages), bytes, BlockKind::kHost, context->device, context->id, flags, true};
  register_block(block);
  begin_residue(block);
  return abi::CUDA_SUCCESS;
}

// An allocator takes longer to find room in fragmented memory.
double cost_of_allocation(int device) {
  const double of_hole = card_settings(device).alloc_hole_us;
  const auto holes = of_hole > 0 ? static_cast<double>(holes_in_device_addresses(device)) : 0;
  return 1e3 * (settings().alloc_us + of_hole * holes);
}

// Memory that the program already has, and keeps.
abi::CUresult register_host(Context* context, void* at, size_t bytes, unsigned flags) {
  const auto address = reinterpret_cast<uint64_t>(at);
  if (at == nullptr || bytes == 0) return abi::CUDA_ERROR_INVALID_VALUE;
  if (find_block(address) || find_block(address + bytes - 1)) return abi::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  register_block({address, bytes, BlockKind::kRegistered, context->device, context->id, flags, true});
  return abi::CUDA_SUCCESS;
}

}  // namespace

abi::CUresult allocate_device(Context* context, size_t bytes, BlockKind kind, abi::CUdeviceptr* address) {
  RecordedCall::of_bytes(bytes);
  if (address == nullptr || bytes == 0) return abi::CUDA_ERROR_INVALID_VALUE;
  if (is_too_large(card_settings(context->device), bytes)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  const auto counted = static_cast<int64_t>(footprint(bytes));
  if (!region().take(context->device, counted)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  *address = take_device_addresses(context->device, bytes);
  if (*address == 0) {
    region().give(context->device, counted);
    return abi::CUDA_ERROR_OUT_OF_MEMORY;
  }
  const Block block = {*address, bytes, kind, context->device, context->id, 0, kind != BlockKind::kArray};
  register_block(block);
  begin_residue(block);
  return abi::CUDA_SUCCESS;
}

void free_block(const Block& block) {
  if (block.kind == BlockKind::kRegistered) return;
  end_residue(block);
  if (block.kind == BlockKind::kHost) {
    munmap(reinterpret_cast<void*>(block.address), block.bytes);
    return;
  }
  if (block.kind == BlockKind::kGraph) return give_graph_memory(block);
  withdraw(block);
  // A block that a stale handle still opens keeps its place and its content.
  if (!block.shared || !leaks(Leak::kIpc)) give_device_addresses(block.device, block.address, block.bytes);
  if (block.kind == BlockKind::kPool)
    pool_give(block.device, static_cast<int64_t>(footprint(block.bytes)));
  else
    region().give(block.device, static_cast<int64_t>(footprint(block.bytes)));
}

void free_context_blocks(uint64_t context) {
  for (const Block& block : blocks_of_context(context))
    if (remove_block(block.address)) free_block(block);
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::BlockKind;
using sim::HostCost;

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemAlloc_v2);
  sim::region().act(sim::Act::kAllocation);
  const HostCost cost(sim::cost_of_allocation(context->device));
  return sim::allocate_device(context, bytes, BlockKind::kDevice, address);
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
  GVB_SIM_ENTER_CONTEXT(cuMemAllocManaged);
  const HostCost cost(sim::settings().alloc_us * 1e3);
  return sim::allocate_device(context, bytes, BlockKind::kManaged, address);
}

// Managed memory is on the simulated card from the start.
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream) {
  GVB_SIM_ENTER_CONTEXT(cuMemPrefetchAsync);
  const auto block = sim::find_block(address);
  if (!block || block->kind != BlockKind::kManaged || bytes > block->bytes - (address - block->address))
    return CUDA_ERROR_INVALID_VALUE;
  return sim::physical_device(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned element) {
  GVB_SIM_ENTER_CONTEXT(cuMemAllocPitch_v2);
  if (pitch == nullptr || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
  const HostCost cost(sim::settings().alloc_us * 1e3);
  if (width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (width > SIZE_MAX - 511 || sim::footprint(width) > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
  *pitch = sim::footprint(width);
  return sim::allocate_device(context, *pitch * height, BlockKind::kDevice, address);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuMemFree_v2);
  if (address == 0) return CUDA_SUCCESS;
  const HostCost cost(sim::settings().free_us * 1e3);
  const auto block = sim::find_block(address);
  if (!block || block->address != address) return CUDA_ERROR_INVALID_VALUE;
  if (!sim::is_freed_by_address(block->kind)) return CUDA_ERROR_INVALID_VALUE;
  sim::RecordedCall::of_bytes(block->bytes);
  sim::settle(context, sim::range_of(block->address, block->bytes), true);
  if (!sim::remove_block(address)) return CUDA_ERROR_INVALID_VALUE;
  sim::free_block(*block);
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** at, size_t bytes, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuMemHostAlloc);
  const HostCost cost(sim::settings().host_alloc_us * 1e3);
  return sim::allocate_host(context, bytes, flags, at);
}

CUresult cuMemAllocHost_v2(void** at, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemAllocHost_v2);
  const HostCost cost(sim::settings().host_alloc_us * 1e3);
  return sim::allocate_host(context, bytes, 0, at);
}

CUresult cuMemHostRegister_v2(void* at, size_t bytes, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuMemHostRegister_v2);
  const HostCost cost(sim::settings().host_register_us * 1e3);
  return sim::register_host(context, at, bytes, flags);
}

CUresult cuMemHostUnregister(void* at) {
  GVB_SIM_ENTER_CONTEXT(cuMemHostUnregister);
  const auto address = reinterpret_cast<uint64_t>(at);
  const auto block = sim::find_block(address);
  if (!block || block->address != address || block->kind != BlockKind::kRegistered)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  sim::settle(context, sim::range_of(block->address, block->bytes), true);
  return sim::remove_block(address) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemFreeHost(void* at) {
  GVB_SIM_ENTER_CONTEXT(cuMemFreeHost);
  const auto address = reinterpret_cast<uint64_t>(at);
  const auto block = sim::find_block(address);
  if (!block || block->address != address || block->kind != BlockKind::kHost) return CUDA_ERROR_INVALID_VALUE;
  sim::settle(context, sim::range_of(block->address, block->bytes), true);
  if (!sim::remove_block(address)) return CUDA_ERROR_INVALID_VALUE;
  sim::free_block(*block);
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  GVB_SIM_ENTER_CONTEXT(cuMemGetInfo_v2);
  if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const sim::MemoryUse use = sim::region().memory(context->device);
  *free = static_cast<size_t>(use.free);
  *total = static_cast<size_t>(use.limit);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
