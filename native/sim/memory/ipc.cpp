// Access to another process's device memory: cuIpc* for blocks of cuMemAlloc. The handle is a ticket in the region; the
// bytes are in the exporter's backing file, which the importer opens through /proc.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "sim/card/region_state.h"
#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/memory/allocation.h"
#include "sim/memory/residues.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kHandleMagic = 0x6770762d63706921;

struct HandleContent {
  uint64_t magic;
  uint64_t ticket;
};

// The mapping that holds a block, whose offset need not be page-aligned.
struct Mapping {
  uint64_t begin;
  size_t bytes;
};

uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

Mapping mapping_of(const Block& block) {
  const uint64_t begin = block.address / page_bytes() * page_bytes();
  return {begin, block.address + block.bytes - begin};
}

// Returns 0 if the exporter is gone or cannot be reached.
uint64_t map_export(const Export& exported) {
  const std::string path = "/proc/" + std::to_string(exported.pid) + "/fd/" + std::to_string(exported.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  const uint64_t from = exported.offset / page_bytes() * page_bytes();
  const uint64_t within = exported.offset - from;
  void* at = mmap(nullptr, exported.bytes + within, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                  static_cast<off_t>(from));
  close(file);
  return at == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(at) + within;
}

}  // namespace

void unmap_imported(const Block& block) {
  const Mapping mapping = mapping_of(block);
  munmap(reinterpret_cast<void*>(mapping.begin), mapping.bytes);
}

void withdraw(const Block& block) {
  const auto backing = backing_file(block.device, block.address);
  if (block.shared && backing && !leaks(Leak::kIpc)) region().withdraw_export(backing->file, backing->offset);
}

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuIpcGetMemHandle);
  const auto block = sim::find_block(address);
  if (handle == nullptr || !block || block->kind != sim::BlockKind::kDevice) return CUDA_ERROR_INVALID_VALUE;
  const auto backing = sim::backing_file(block->device, block->address);
  if (!backing) return CUDA_ERROR_INVALID_VALUE;
  // Results of earlier work may not be computed yet; later work knows that other processes read the block.
  sim::share_block(block->address);
  context->queue->settle(sim::range_of(block->address, block->bytes), false);
  const uint64_t ticket = sim::region().add_export(block->device, backing->file, backing->offset, block->bytes);
  if (ticket == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const sim::HandleContent content = {sim::kHandleMagic, ticket};
  *handle = {};
  std::memcpy(handle->reserved, &content, sizeof content);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  GVB_SIM_ENTER_CONTEXT(cuIpcOpenMemHandle_v2);
  sim::HandleContent content;
  std::memcpy(&content, handle.reserved, sizeof content);
  if (address == nullptr || flags > CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || content.magic != sim::kHandleMagic)
    return CUDA_ERROR_INVALID_VALUE;
  const auto exported = sim::region().find_export(content.ticket);
  if (!exported) return CUDA_ERROR_INVALID_VALUE;
  if (exported->pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  const bool elsewhere = exported->place != context->device;
  const bool may_reach =
      flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS && sim::can_be_peers(context->device, exported->place);
  if (elsewhere && !may_reach) return CUDA_ERROR_INVALID_DEVICE;
  *address = sim::map_export(*exported);
  if (*address == 0) return CUDA_ERROR_NOT_PERMITTED;
  sim::register_block({*address, exported->bytes, sim::BlockKind::kImported, exported->place, 0, 0, true, true});
  if (elsewhere) {
    const std::lock_guard<std::mutex> lock(context->mutex);
    context->peers.insert(exported->place);
  }
  return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  GVB_SIM_ENTER_CONTEXT(cuIpcCloseMemHandle);
  const auto block = sim::find_block(address);
  if (!block || block->address != address || block->kind != sim::BlockKind::kImported) return CUDA_ERROR_INVALID_VALUE;
  sim::settle(context, sim::range_of(block->address, block->bytes), false);
  if (!sim::remove_block(address)) return CUDA_ERROR_INVALID_VALUE;
  sim::unmap_imported(*block);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
