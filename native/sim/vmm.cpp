#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "sim/address_space.h"
#include "sim/clock.h"
#include "sim/context.h"
#include "sim/exports.h"
#include "sim/range_allocator.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kFileBegin = kGranularity;
constexpr uint64_t kFileEnd = 1ULL << 46;

// Physical memory made by cuMemCreate: a range of one sparse file, so that it can be mapped anywhere and twice.
struct Physical {
  int device = 0;
  size_t bytes = 0;
  uint64_t offset = 0;
};

struct State {
  std::mutex mutex;
  int file = -1;
  uint64_t fileBytes = 0;
  RangeAllocator offsets{kFileBegin, kFileEnd};
  std::map<uint64_t, size_t> reservations;                 // address to bytes
  std::map<uint64_t, std::shared_ptr<Physical>> mappings;  // address to what is mapped there
};

State& state() {
  static State& instance = *new State;
  return instance;
}

using PhysicalTable = HandleTable<std::shared_ptr<Physical>, 0x14>;

PhysicalTable& physicals() {
  static PhysicalTable& table = *new PhysicalTable;
  return table;
}

bool aligned(uint64_t value) { return value % static_cast<uint64_t>(kGranularity) == 0; }

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

bool openFile() {
  if (state().file < 0) state().file = memfd_create("gvb-sim-device-memory", MFD_CLOEXEC);
  return state().file >= 0;
}

bool extendFile(uint64_t bytes) {
  if (bytes <= state().fileBytes) return true;
  if (ftruncate(state().file, static_cast<off_t>(bytes)) != 0) return false;
  state().fileBytes = bytes;
  return true;
}

// Runs when neither a handle nor a mapping refers to it; with the state's mutex held.
void destroyPhysical(Physical* physical) {
  fallocate(state().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(physical->offset),
            static_cast<off_t>(physical->bytes));
  state().offsets.give(physical->offset, physical->bytes);
  region().give(physical->device, static_cast<int64_t>(physical->bytes));
  delete physical;
}

bool insideReservation(uint64_t address, size_t bytes) {
  auto next = state().reservations.upper_bound(address);
  if (next == state().reservations.begin()) return false;
  const auto& [base, size] = *std::prev(next);
  return address - base < size && bytes <= size - (address - base);
}

bool overlapsMapping(uint64_t address, size_t bytes) {
  const auto next = state().mappings.lower_bound(address + bytes);
  if (next == state().mappings.begin()) return false;
  const auto& [base, physical] = *std::prev(next);
  return base + physical->bytes > address;
}

abi::CUresult unmapRange(uint64_t address, size_t bytes) {
  const auto first = state().mappings.find(address);
  uint64_t reached = address;
  auto last = first;
  for (; last != state().mappings.end() && last->first == reached && reached < address + bytes; ++last)
    reached += last->second->bytes;
  if (reached != address + bytes) return abi::CUDA_ERROR_INVALID_VALUE;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(pointer(address), bytes, PROT_NONE, kFlags, -1, 0) == MAP_FAILED) return abi::CUDA_ERROR_UNKNOWN;
  for (auto mapping = first; mapping != last; ++mapping) removeBlock(mapping->first);
  state().mappings.erase(first, last);
  return abi::CUDA_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::HostCost;
using sim::Physical;

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  GVB_SIM_ENTER(cuMemGetAllocationGranularity);
  if (granularity == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *granularity = static_cast<size_t>(sim::kGranularity);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  GVB_SIM_ENTER(cuMemAddressReserve);
  if (address == nullptr || bytes == 0 || !sim::aligned(bytes) || flags != 0 || (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const size_t align = std::max(alignment, static_cast<size_t>(sim::kGranularity));
  if (bytes > SIZE_MAX - align) return CUDA_ERROR_OUT_OF_MEMORY;
  void* at = mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto begin = reinterpret_cast<uint64_t>(at);
  const uint64_t start = (begin + align - 1) / align * align;
  if (start > begin) munmap(at, start - begin);
  if (begin + align > start) munmap(sim::pointer(start + bytes), begin + align - start);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  sim::state().reservations[start] = bytes;
  *address = start;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  GVB_SIM_ENTER(cuMemAddressFree);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  const auto found = sim::state().reservations.find(address);
  if (found == sim::state().reservations.end() || found->second != bytes || sim::overlapsMapping(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  sim::state().reservations.erase(found);
  munmap(sim::pointer(address), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  GVB_SIM_ENTER(cuMemCreate);
  const HostCost cost(sim::settings().vmm_us * 1e3);
  if (handle == nullptr || properties == nullptr || flags != 0 || bytes == 0 || !sim::aligned(bytes) ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  const int device = sim::physicalDevice(properties->location.id);
  if (device < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (bytes > static_cast<size_t>(sim::settings().memory_mib * sim::kMiB)) return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  if (!sim::openFile() || !sim::region().take(device, static_cast<int64_t>(bytes))) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t offset = sim::state().offsets.take(bytes);
  if (!sim::extendFile(offset + bytes)) {
    sim::state().offsets.give(offset, bytes);
    sim::region().give(device, static_cast<int64_t>(bytes));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto physical = std::shared_ptr<Physical>(new Physical{device, bytes, offset}, sim::destroyPhysical);
  *handle = sim::physicals().insert(std::make_unique<std::shared_ptr<Physical>>(std::move(physical)));
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  GVB_SIM_ENTER(cuMemRelease);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  return sim::physicals().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  GVB_SIM_ENTER(cuMemMap);
  const HostCost cost(sim::settings().vmm_us * 500);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  const std::shared_ptr<Physical>* physical = sim::physicals().find(handle);
  if (physical == nullptr || flags != 0 || offset != 0 || bytes != (*physical)->bytes || !sim::aligned(address) ||
      !sim::insideReservation(address, bytes) || sim::overlapsMapping(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (mmap(sim::pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, sim::state().file,
           static_cast<off_t>((*physical)->offset)) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  sim::state().mappings[address] = *physical;
  sim::registerBlock({address, bytes, sim::BlockKind::kMapped, (*physical)->device, 0, 0, false});
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  GVB_SIM_ENTER(cuMemUnmap);
  sim::Context* context = nullptr;
  if (sim::currentContext(&context) == CUDA_SUCCESS) sim::synchronise(context, nullptr);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  return sim::unmapRange(address, bytes);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions, size_t count) {
  GVB_SIM_ENTER(cuMemSetAccess);
  const HostCost cost(sim::settings().vmm_us * 500);
  if (descriptions == nullptr || count == 0 || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (descriptions[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        sim::physicalDevice(descriptions[i].location.id) < 0 ||
        descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
  if (!sim::setAccessible(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return mprotect(sim::pointer(address), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

}  // namespace gvb::abi
