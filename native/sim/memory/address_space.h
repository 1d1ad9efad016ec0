// What each address of this process is to the driver. Device addresses are host addresses of lazily backed pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gvb::sim {

enum class BlockKind {
  kDevice,
  kManaged,
  kPool,
  kHost,
  kMapped,      // of a cuMemCreate handle
  kImported,    // of another process
  kArray,       // met only through its handle
  kGlobal,      // a variable of a module
  kGraph,       // of a graph's allocation node
  kRegistered,  // memory of the program that is pinned
};

inline bool is_of_host(BlockKind kind) { return kind == BlockKind::kHost || kind == BlockKind::kRegistered; }

inline bool is_freed_by_address(BlockKind kind) {
  return kind == BlockKind::kDevice || kind == BlockKind::kManaged || kind == BlockKind::kPool ||
         kind == BlockKind::kGraph;
}

struct Block {
  uint64_t address = 0;
  size_t bytes = 0;  // as asked for
  BlockKind kind = BlockKind::kDevice;
  int device = 0;           // physical
  uint64_t context = 0;     // id; 0 when bound to none
  unsigned host_flags = 0;  // of cuMemHostAlloc
  bool accessible = true;   // false until cuMemSetAccess
  bool shared = false;      // other processes may look at it
};

inline size_t footprint(size_t bytes) { return (bytes + 511) / 512 * 512; }

// Backed by one sparse file per card, mapped at once, so that many blocks cost few mappings and another process can map
// any of them. 0 when the address range is full.
uint64_t take_device_addresses(int device, size_t bytes);
// Between and behind the blocks of this process.
size_t holes_in_device_addresses(int device);
void give_device_addresses(int device, uint64_t address, size_t bytes);

// Where the bytes at a device address are: this process's file descriptor, and an offset.
struct BackingFile {
  int file;
  uint64_t offset;
};
std::optional<BackingFile> backing_file(int device, uint64_t address);

void register_block(const Block& block);
std::optional<Block> find_block(uint64_t address);    // containing the address
std::optional<Block> remove_block(uint64_t address);  // beginning there
bool set_accessible(uint64_t address, size_t bytes);  // whole blocks only
std::vector<Block> blocks_of_context(uint64_t context);
bool is_accessible(uint64_t address, size_t bytes);  // all of it in accessible blocks, which may adjoin

bool share_block(uint64_t address);  // the one that begins there

// Whether the host, here or in another process, can look at what is there or change it without a copy.
bool is_visible_to_host(uint64_t address);

// Zeroing gives whole pages of device memory back to the host instead of writing them.
void fill_zero(uint64_t address, size_t bytes);

}  // namespace gvb::sim
