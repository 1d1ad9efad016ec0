// How the driver knows each address of this process. Device addresses are host addresses of lazily backed pages.
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
  kMapped,      // a mapping of a cuMemCreate handle
  kImported,    // memory of another process
  kArray,       // reachable only through its handle
  kGlobal,      // a variable of a module
  kGraph,       // memory of a graph's allocation node
  kRegistered,  // the program's own memory that it pinned
};

inline bool is_of_host(BlockKind kind) { return kind == BlockKind::kHost || kind == BlockKind::kRegistered; }

inline bool is_freed_by_address(BlockKind kind) {
  return kind == BlockKind::kDevice || kind == BlockKind::kManaged || kind == BlockKind::kPool ||
         kind == BlockKind::kGraph;
}

struct Block {
  uint64_t address = 0;
  size_t bytes = 0;  // requested size
  BlockKind kind = BlockKind::kDevice;
  int device = 0;           // physical
  uint64_t context = 0;     // id of its context; 0: bound to none
  unsigned host_flags = 0;  // flags of cuMemHostAlloc
  bool accessible = true;   // false until cuMemSetAccess
  bool shared = false;      // other processes may read it
};

inline size_t footprint(size_t bytes) { return (bytes + 511) / 512 * 512; }

// One sparse file per card backs them and is mapped once, so that many blocks need few mappings and another process can
// map any of them. 0 if the address range is full.
uint64_t take_device_addresses(int device, size_t bytes);
// Number of free ranges between and after the blocks of this process.
size_t holes_in_device_addresses(int device);
void give_device_addresses(int device, uint64_t address, size_t bytes);

// The place of a device address's bytes: a file descriptor of this process, and an offset.
struct BackingFile {
  int file;
  uint64_t offset;
};
std::optional<BackingFile> backing_file(int device, uint64_t address);

void register_block(const Block& block);
std::optional<Block> find_block(uint64_t address);    // the block that contains the address
std::optional<Block> remove_block(uint64_t address);  // the block that begins there
bool set_accessible(uint64_t address, size_t bytes);  // whole blocks only
std::vector<Block> blocks_of_context(uint64_t context);
std::vector<Block> all_blocks();
bool is_accessible(uint64_t address, size_t bytes);  // whether all of it lies in accessible blocks, which may adjoin

bool share_block(uint64_t address);  // the block that begins there

// Whether the host, in this or another process, can read or change the memory there without a copy.
bool is_visible_to_host(uint64_t address);

// Zeroing returns whole pages of device memory to the host instead of writing them.
void fill_zero(uint64_t address, size_t bytes);

}  // namespace gvb::sim
