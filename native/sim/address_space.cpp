#include "sim/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "sim/range_allocator.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kPage = 65536;  // no host has larger base pages
constexpr uint64_t kReleaseFrom = 16 * kPage;

struct Arena {
  std::mutex mutex;
  RangeAllocator ranges;
  bool mapped = false;
};

Arena& arenaOf(int device) {
  static Arena* const arenas = new Arena[kMaxDevices];
  return arenas[device];
}

// Several times the card's memory, because a GPU remaps pages where a fragmented host range could not.
void mapArena(Arena* arena) {
  arena->mapped = true;
  for (uint64_t bytes = static_cast<uint64_t>(settings().memory_mib * kMiB) * 4; bytes >= kReleaseFrom; bytes /= 2) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes, MADV_DONTDUMP);
    const auto begin = reinterpret_cast<uint64_t>(at);
    arena->ranges = RangeAllocator((begin + kGranularity - 1) / kGranularity * kGranularity, begin + bytes);
    return;
  }
}

struct Blocks {
  std::shared_mutex mutex;
  std::map<uint64_t, Block> byAddress;

  std::map<uint64_t, Block>::iterator containing(uint64_t address) {
    auto next = byAddress.upper_bound(address);
    if (next == byAddress.begin()) return byAddress.end();
    const auto block = std::prev(next);
    return address - block->first < block->second.bytes ? block : byAddress.end();
  }
};

Blocks& blocks() {
  static Blocks& instance = *new Blocks;
  return instance;
}

// Drops the whole pages inside, which then read as zero.
void release(uint64_t address, size_t bytes, uint64_t* begin, uint64_t* end) {
  *begin = (address + kPage - 1) / kPage * kPage;
  *end = std::max(*begin, (address + bytes) / kPage * kPage);
  if (*end - *begin < kReleaseFrom || madvise(reinterpret_cast<void*>(*begin), *end - *begin, MADV_DONTNEED) != 0)
    *end = *begin;
}

}  // namespace

uint64_t takeDeviceAddresses(int device, size_t bytes) {
  Arena& arena = arenaOf(device);
  std::lock_guard<std::mutex> lock(arena.mutex);
  if (!arena.mapped) mapArena(&arena);
  return arena.ranges.take(footprint(bytes));
}

void giveDeviceAddresses(int device, uint64_t address, size_t bytes) {
  uint64_t begin = 0;
  uint64_t end = 0;
  release(address, footprint(bytes), &begin, &end);
  Arena& arena = arenaOf(device);
  std::lock_guard<std::mutex> lock(arena.mutex);
  arena.ranges.give(address, footprint(bytes));
}

void registerBlock(const Block& block) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  blocks().byAddress[block.address] = block;
}

std::optional<Block> findBlock(uint64_t address) {
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  const auto block = blocks().containing(address);
  if (block == blocks().byAddress.end()) return std::nullopt;
  return block->second;
}

std::optional<Block> removeBlock(uint64_t address) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  const auto at = blocks().byAddress.find(address);
  if (at == blocks().byAddress.end()) return std::nullopt;
  const Block block = at->second;
  blocks().byAddress.erase(at);
  return block;
}

bool setAccessible(uint64_t address, size_t bytes) {
  std::unique_lock<std::shared_mutex> lock(blocks().mutex);
  const auto first = blocks().byAddress.find(address);
  uint64_t reached = address;
  auto last = first;
  for (; last != blocks().byAddress.end() && last->first == reached && reached < address + bytes; ++last) {
    if (last->second.kind != BlockKind::kMapped) return false;
    reached += last->second.bytes;
  }
  if (reached != address + bytes) return false;
  for (auto block = first; block != last; ++block) block->second.accessible = true;
  return true;
}

std::vector<Block> blocksOfContext(uint64_t context) {
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  std::vector<Block> owned;
  for (const auto& [address, block] : blocks().byAddress)
    if (block.context == context) owned.push_back(block);
  return owned;
}

bool isAccessible(uint64_t address, size_t bytes) {
  if (bytes == 0) return true;
  std::shared_lock<std::shared_mutex> lock(blocks().mutex);
  auto block = blocks().containing(address);
  for (uint64_t left = bytes; block != blocks().byAddress.end() && block->second.accessible; ++block) {
    if (address - block->first >= block->second.bytes) return false;
    const uint64_t here = block->first + block->second.bytes - address;
    if (here >= left) return true;
    left -= here;
    address += here;
  }
  return false;
}

void fillZero(uint64_t address, size_t bytes) {
  uint64_t begin = address;
  uint64_t end = address;
  const std::optional<Block> block = findBlock(address);
  if (block && block->kind != BlockKind::kHost && block->kind != BlockKind::kMapped)
    release(address, bytes, &begin, &end);
  if (begin == end) begin = end = address;
  std::memset(reinterpret_cast<void*>(address), 0, begin - address);
  std::memset(reinterpret_cast<void*>(end), 0, address + bytes - end);
}

}  // namespace gvb::sim
