#include "sim/memory/address_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "sim/memory/range_allocator.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kPage = 65536;  // no host has larger base pages
constexpr uint64_t kReleaseFrom = 16 * kPage;

struct Arena {
  std::mutex mutex;
  RangeAllocator ranges;
  bool mapped = false;
  int file = -1;
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

Arena& arena_of(int device) {
  static Arena* const arenas = new Arena[kMaxDevices];
  return arenas[device];
}

// Reserves several times the card's memory: a GPU remaps pages into a fragmented range, the host cannot.
void map_arena(Arena* arena, int device) {
  arena->mapped = true;
  arena->file = memfd_create("gvb-sim-card-memory", MFD_CLOEXEC);
  for (uint64_t bytes = static_cast<uint64_t>(card_settings(device).memory_mib * kMiB) * 4; bytes >= kReleaseFrom;
       bytes /= 2) {
    if (ftruncate(arena->file, static_cast<off_t>(bytes)) != 0) continue;
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena->file, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes, MADV_DONTDUMP);
    arena->begin = reinterpret_cast<uint64_t>(at);
    arena->bytes = bytes;
    const uint64_t first = (arena->begin + kGranularity - 1) / kGranularity * kGranularity;
    arena->ranges = RangeAllocator(first, arena->begin + bytes);
    return;
  }
}

struct HeldBlocks {
  std::shared_mutex mutex;
  std::map<uint64_t, Block> by_address;

  std::map<uint64_t, Block>::iterator containing(uint64_t address) {
    auto next = by_address.upper_bound(address);
    if (next == by_address.begin()) return by_address.end();
    const auto block = std::prev(next);
    return address - block->first < block->second.bytes ? block : by_address.end();
  }
};

HeldBlocks& blocks() {
  static HeldBlocks& instance = *new HeldBlocks;
  return instance;
}

struct Pages {
  uint64_t begin;
  uint64_t end;
};

// Drops the whole pages inside the range, which then read as zero, and returns them; none if it is not worth a system
// call.
Pages release(uint64_t address, size_t bytes) {
  const uint64_t begin = (address + kPage - 1) / kPage * kPage;
  const uint64_t end = std::max(begin, (address + bytes) / kPage * kPage);
  const bool released =
      end - begin >= kReleaseFrom && madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE) == 0;
  return released ? Pages{begin, end} : Pages{address, address};
}

}  // namespace

uint64_t take_device_addresses(int device, size_t bytes) {
  Arena& arena = arena_of(device);
  std::lock_guard<std::mutex> lock(arena.mutex);
  if (!arena.mapped) map_arena(&arena, device);
  return arena.ranges.take(footprint(bytes));
}

size_t holes_in_device_addresses(int device) {
  Arena& arena = arena_of(device);
  const std::lock_guard<std::mutex> lock(arena.mutex);
  return arena.ranges.holes();
}

void give_device_addresses(int device, uint64_t address, size_t bytes) {
  release(address, footprint(bytes));
  Arena& arena = arena_of(device);
  std::lock_guard<std::mutex> lock(arena.mutex);
  arena.ranges.give(address, footprint(bytes));
}

std::optional<BackingFile> backing_file(int device, uint64_t address) {
  Arena& arena = arena_of(device);
  const std::lock_guard<std::mutex> lock(arena.mutex);
  if (address - arena.begin >= arena.bytes) return std::nullopt;
  return BackingFile{arena.file, address - arena.begin};
}

void register_block(const Block& block) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  blocks().by_address[block.address] = block;
}

std::optional<Block> find_block(uint64_t address) {
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  const auto block = blocks().containing(address);
  if (block == blocks().by_address.end()) return std::nullopt;
  return block->second;
}

std::optional<Block> remove_block(uint64_t address) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  const auto at = blocks().by_address.find(address);
  if (at == blocks().by_address.end()) return std::nullopt;
  const Block block = at->second;
  blocks().by_address.erase(at);
  return block;
}

bool set_accessible(uint64_t address, size_t bytes) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  const auto first = blocks().by_address.find(address);
  uint64_t reached = address;
  auto last = first;
  for (; last != blocks().by_address.end() && last->first == reached && reached < address + bytes; ++last) {
    if (last->second.kind != BlockKind::kMapped) return false;
    reached += last->second.bytes;
  }
  if (reached != address + bytes) return false;
  for (auto block = first; block != last; ++block) block->second.accessible = true;
  return true;
}

std::vector<Block> blocks_of_context(uint64_t context) {
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  std::vector<Block> owned;
  for (const auto& [address, block] : blocks().by_address)
    if (block.context == context) owned.push_back(block);
  return owned;
}

std::vector<Block> all_blocks() {
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  std::vector<Block> all;
  for (const auto& [address, block] : blocks().by_address) all.push_back(block);
  return all;
}

bool is_accessible(uint64_t address, size_t bytes) {
  if (bytes == 0) return true;
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  auto block = blocks().containing(address);
  for (uint64_t left = bytes; block != blocks().by_address.end() && block->second.accessible; ++block) {
    if (address - block->first >= block->second.bytes) return false;
    const uint64_t here = block->first + block->second.bytes - address;
    if (here >= left) return true;
    left -= here;
    address += here;
  }
  return false;
}

bool share_block(uint64_t address) {
  const std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  const auto at = blocks().by_address.find(address);
  if (at == blocks().by_address.end()) return false;
  at->second.shared = true;
  return true;
}

bool is_visible_to_host(uint64_t address) {
  const auto block = find_block(address);
  // What a handle stands for may have other addresses too, by which somebody reads it.
  return !block || is_of_host(block->kind) || block->kind == BlockKind::kManaged || block->kind == BlockKind::kMapped ||
         block->shared;
}

void fill_zero(uint64_t address, size_t bytes) {
  Pages zero = {address, address};
  const std::optional<Block> block = find_block(address);
  if (block && !is_of_host(block->kind)) zero = release(address, bytes);
  std::memset(reinterpret_cast<void*>(address), 0, zero.begin - address);
  std::memset(reinterpret_cast<void*>(zero.end), 0, address + bytes - zero.end);
}

}  // namespace gvb::sim
