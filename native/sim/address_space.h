// What each address of this process is to the driver. Device addresses are host addresses of lazily backed pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gvb::sim {

enum class BlockKind { kDevice, kManaged, kPool, kHost, kMapped /* of a cuMemCreate handle */ };

struct Block {
  uint64_t address = 0;
  size_t bytes = 0;  // as asked for
  BlockKind kind = BlockKind::kDevice;
  int device = 0;          // physical
  uint64_t context = 0;    // id; 0 when bound to none
  unsigned hostFlags = 0;  // of cuMemHostAlloc
  bool accessible = true;  // false until cuMemSetAccess
};

inline size_t footprint(size_t bytes) { return (bytes + 511) / 512 * 512; }

// Backed by one large mapping per card, so that many blocks cost few mappings. 0 when the address range is full.
uint64_t takeDeviceAddresses(int device, size_t bytes);
void giveDeviceAddresses(int device, uint64_t address, size_t bytes);

void registerBlock(const Block& block);
std::optional<Block> findBlock(uint64_t address);    // containing the address
std::optional<Block> removeBlock(uint64_t address);  // beginning there
bool setAccessible(uint64_t address, size_t bytes);  // whole blocks only
std::vector<Block> blocksOfContext(uint64_t context);
bool isAccessible(uint64_t address, size_t bytes);  // all of it in accessible blocks, which may adjoin

// Zeroing gives whole pages of device memory back to the host instead of writing them.
void fillZero(uint64_t address, size_t bytes);

}  // namespace gvb::sim
