#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/memory/range_allocator.h"
#include "sim/memory/residues.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kFileBegin = kGranularity;
constexpr uint64_t kFileEnd = 1ULL << 46;

// Physical memory made by cuMemCreate: a range of one sparse file, so that it can be mapped anywhere and more than
// once. Shareable memory has a file of its own, whose last page describes it; only the process that created it counts
// it.
struct Physical {
  int device = 0;
  size_t bytes = 0;
  uint64_t offset = 0;
  int own_file = -1;
  bool imported = false;
};

struct Label {
  uint64_t magic;
  int64_t place;
  uint64_t bytes;
};
constexpr uint64_t kLabelMagic = 0x6776622d766d6d21;
constexpr size_t kLabelBytes = 4096;

struct State {
  std::mutex mutex;
  int file = -1;
  uint64_t file_bytes = 0;
  RangeAllocator offsets{kFileBegin, kFileEnd};
  std::map<uint64_t, size_t> reservations;                 // address to bytes
  std::map<uint64_t, std::shared_ptr<Physical>> mappings;  // address to the memory mapped there
  std::map<uint64_t, std::weak_ptr<Physical>> shareable;   // by the inode of the exported file
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

bool open_file() {
  if (state().file < 0) state().file = memfd_create("gvb-sim-device-memory", MFD_CLOEXEC);
  return state().file >= 0;
}

bool extend_file(uint64_t bytes) {
  if (bytes <= state().file_bytes) return true;
  if (ftruncate(state().file, static_cast<off_t>(bytes)) != 0) return false;
  state().file_bytes = bytes;
  return true;
}

int file_of(const Physical& physical) { return physical.own_file >= 0 ? physical.own_file : state().file; }

// Uses statx: fstat is a symbol only in newer glibc.
uint64_t inode_of(int file) {
  struct statx found {};
  return statx(file, "", AT_EMPTY_PATH, STATX_INO, &found) == 0 ? found.stx_ino : 0;
}

// Runs once no handle or mapping refers to it, with the state's mutex held.
void destroy_physical(Physical* physical) {
  if (physical->own_file >= 0) {
    state().shareable.erase(inode_of(physical->own_file));
    close(physical->own_file);
    if (!physical->imported) region().give(physical->device, static_cast<int64_t>(physical->bytes));
    delete physical;
    return;
  }
  fallocate(state().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(physical->offset),
            static_cast<off_t>(physical->bytes));
  state().offsets.give(physical->offset, physical->bytes);
  region().give(physical->device, static_cast<int64_t>(physical->bytes));
  delete physical;
}

// Returns -1 on failure.
int make_shareable_file(int device, size_t bytes) {
  const int file = memfd_create("gvb-sim-shareable-memory", MFD_CLOEXEC);
  const Label label = {kLabelMagic, device, bytes};
  const auto end = static_cast<off_t>(bytes);
  if (file >= 0 && ftruncate(file, end + static_cast<off_t>(kLabelBytes)) == 0 &&
      pwrite(file, &label, sizeof label, end) == sizeof label)
    return file;
  if (file >= 0) close(file);
  return -1;
}

// The memory behind a descriptor of cuMemExportToShareableHandle; null for any other file.
std::unique_ptr<Physical> read_label(int file) {
  const off_t end = lseek(file, 0, SEEK_END);
  Label label{};
  if (end <= static_cast<off_t>(kLabelBytes) ||
      pread(file, &label, sizeof label, end - static_cast<off_t>(kLabelBytes)) != sizeof label)
    return nullptr;
  if (label.magic != kLabelMagic || label.bytes != static_cast<uint64_t>(end) - kLabelBytes) return nullptr;
  if (label.place < 0 || label.place >= settings().places) return nullptr;
  return std::unique_ptr<Physical>(new Physical{static_cast<int>(label.place), label.bytes, 0, -1, true});
}

// Marks an exported descriptor by a flag without effect on memory. A process that opens the file through /proc gets a
// descriptor without it, so the import is refused, as by the real driver.
constexpr int kExported = O_APPEND;

bool may_import(int descriptor) { return leaks(Leak::kDescriptor) || (fcntl(descriptor, F_GETFL) & kExported) != 0; }

abi::CUmemGenericAllocationHandle handle_of(const std::shared_ptr<Physical>& physical) {
  return physicals().insert(std::make_unique<std::shared_ptr<Physical>>(physical));
}

abi::CUmemGenericAllocationHandle handle_of_new(Physical physical) {
  const auto owned = std::shared_ptr<Physical>(new Physical(physical), destroy_physical);
  if (owned->own_file >= 0) state().shareable[inode_of(owned->own_file)] = owned;
  return handle_of(owned);
}

// The memory that this process already created or imported with that file; it counts once, until the last of its
// handles and mappings is gone. Null if it belongs to another process.
std::shared_ptr<Physical> known_by(int file) {
  const auto known = state().shareable.find(inode_of(file));
  return known == state().shareable.end() ? nullptr : known->second.lock();
}

bool inside_reservation(uint64_t address, size_t bytes) {
  auto next = state().reservations.upper_bound(address);
  if (next == state().reservations.begin()) return false;
  const auto& [base, size] = *std::prev(next);
  return address - base < size && bytes <= size - (address - base);
}

bool overlaps_mapping(uint64_t address, size_t bytes) {
  const auto next = state().mappings.lower_bound(address + bytes);
  if (next == state().mappings.begin()) return false;
  const auto& [base, physical] = *std::prev(next);
  return base + physical->bytes > address;
}

abi::CUresult unmap_range(uint64_t address, size_t bytes) {
  const auto first = state().mappings.find(address);
  uint64_t reached = address;
  auto last = first;
  for (; last != state().mappings.end() && last->first == reached && reached < address + bytes; ++last)
    reached += last->second->bytes;
  if (reached != address + bytes) return abi::CUDA_ERROR_INVALID_VALUE;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(pointer(address), bytes, PROT_NONE, kFlags, -1, 0) == MAP_FAILED) return abi::CUDA_ERROR_UNKNOWN;
  for (auto mapping = first; mapping != last; ++mapping)
    if (const auto block = remove_block(mapping->first)) end_residue(*block);
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
  if (found == sim::state().reservations.end() || found->second != bytes || sim::overlaps_mapping(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  sim::state().reservations.erase(found);
  munmap(sim::pointer(address), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  GVB_SIM_ENTER(cuMemCreate);
  sim::RecordedCall::of_bytes(bytes);
  const HostCost cost(sim::settings().vmm_us * 1e3);
  if (handle == nullptr || properties == nullptr || flags != 0 || bytes == 0 || !sim::aligned(bytes) ||
      (properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  const int device = sim::physical_device(properties->location.id);
  if (device < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (bytes > static_cast<size_t>(sim::card_settings(device).memory_mib * sim::kMiB)) return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  if (!sim::open_file() || !sim::region().take(device, static_cast<int64_t>(bytes))) return CUDA_ERROR_OUT_OF_MEMORY;
  if (properties->requestedHandleTypes != 0) {
    const int file = sim::make_shareable_file(device, bytes);
    if (file < 0) {
      sim::region().give(device, static_cast<int64_t>(bytes));
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = sim::handle_of_new({device, bytes, 0, file, false});
    return CUDA_SUCCESS;
  }
  const uint64_t offset = sim::state().offsets.take(bytes);
  if (!sim::extend_file(offset + bytes)) {
    sim::state().offsets.give(offset, bytes);
    sim::region().give(device, static_cast<int64_t>(bytes));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = sim::handle_of_new({device, bytes, offset, -1, false});
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* descriptor, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
  GVB_SIM_ENTER(cuMemExportToShareableHandle);
  const std::lock_guard<std::mutex> lock(sim::state().mutex);
  const std::shared_ptr<Physical>* physical = sim::physicals().find(handle);
  if (descriptor == nullptr || physical == nullptr || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      (*physical)->own_file < 0)
    return CUDA_ERROR_INVALID_VALUE;
  const int file = fcntl((*physical)->own_file, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  fcntl(file, F_SETFL, sim::kExported);
  *static_cast<int*>(descriptor) = file;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* descriptor, int type) {
  GVB_SIM_ENTER(cuMemImportFromShareableHandle);
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  const int given = static_cast<int>(reinterpret_cast<intptr_t>(descriptor));
  const std::unique_ptr<Physical> physical = sim::read_label(given);
  if (physical == nullptr || !sim::may_import(given)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard<std::mutex> lock(sim::state().mutex);
  if (const auto known = sim::known_by(given)) {
    *handle = sim::handle_of(known);
    return CUDA_SUCCESS;
  }
  physical->own_file = fcntl(given, F_DUPFD_CLOEXEC, 0);
  if (physical->own_file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = sim::handle_of_new(*physical);
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
      !sim::inside_reservation(address, bytes) || sim::overlaps_mapping(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (mmap(sim::pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, sim::file_of(**physical),
           static_cast<off_t>((*physical)->offset)) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  sim::state().mappings[address] = *physical;
  const bool shared = (*physical)->own_file >= 0;
  const sim::Block block = {address, bytes, sim::BlockKind::kMapped, (*physical)->device, 0, 0, false, shared};
  sim::register_block(block);
  if (!shared) sim::begin_residue(block);
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  GVB_SIM_ENTER(cuMemUnmap);
  const auto [context, code] = sim::current_context();
  if (code == CUDA_SUCCESS) sim::settle(context, sim::range_of(address, bytes), false);
  std::lock_guard<std::mutex> lock(sim::state().mutex);
  return sim::unmap_range(address, bytes);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions, size_t count) {
  GVB_SIM_ENTER(cuMemSetAccess);
  const HostCost cost(sim::settings().vmm_us * 500);
  if (descriptions == nullptr || count == 0 || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (descriptions[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        sim::physical_device(descriptions[i].location.id) < 0 ||
        descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
  if (!sim::set_accessible(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return mprotect(sim::pointer(address), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

}  // namespace gvb::abi
