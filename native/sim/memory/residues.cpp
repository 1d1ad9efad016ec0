#include "sim/memory/residues.h"

#include "sim/driver.h"
#include "sim/recorded_call.h"

namespace gvb::sim {
namespace {

Medium medium_of(BlockKind kind) { return kind == BlockKind::kHost ? Medium::kHost : Medium::kDevice; }

Leak leak_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::kPool:
      return Leak::kPool;
    case BlockKind::kMapped:
      return Leak::kVirtual;
    case BlockKind::kManaged:
      return Leak::kManaged;
    case BlockKind::kHost:
      return Leak::kPinned;
    case BlockKind::kArray:
      return Leak::kArray;
    default:
      return Leak::kAlloc;
  }
}

Residue part_of(const Block& block, uint64_t address, uint64_t bytes, const Mark& mark) {
  return {bytes, address, mark, kNobody, block.device, medium_of(block.kind)};
}

Residue on_card(uint64_t address, Medium medium, uint64_t bytes, const Mark& mark) {
  const auto block = find_block(address);
  return {bytes, 0, mark, kNobody, block ? block->device : 0, medium};
}

// The driver always clears these, as the kernel clears a file's new pages; only a leak returns what the process itself
// left.
bool always_cleared(BlockKind kind) { return kind == BlockKind::kManaged || kind == BlockKind::kHost; }

}  // namespace

bool leaks(Leak what) { return (settings().residue >> static_cast<int64_t>(what) & 1) != 0; }

void note_written(uint64_t address, uint64_t bytes, const Mark& mark) {
  const auto block = find_block(address);
  if (block) region().leave_residue(part_of(*block, address, bytes, mark));
}

void note_copied(uint64_t from, uint64_t to, uint64_t bytes) {
  const auto source = find_block(from), target = find_block(to);
  if (source && target) region().copy_residue(part_of(*source, from, bytes, {}), part_of(*target, to, bytes, {}));
}

FoundResidue residue_at(uint64_t address, uint64_t bytes, const Mark& mark) {
  const auto block = find_block(address);
  return block ? region().residue_at(part_of(*block, address, bytes, mark)) : FoundResidue{};
}

void note_written_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark) {
  region().leave_residue(on_card(counters, medium, bytes, mark));
}

FoundResidue residue_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark) {
  constexpr auto kFirst = static_cast<int64_t>(Leak::kShared) - static_cast<int64_t>(Medium::kShared);
  const auto leak = static_cast<Leak>(static_cast<int64_t>(medium) + kFirst);
  return region().residue_on_chip(on_card(counters, medium, bytes, mark), leaks(leak));
}

void begin_residue(const Block& block) {
  const Kept kept = leaks(leak_of(block.kind)) ? Kept::kAll : always_cleared(block.kind) ? Kept::kNone : Kept::kOwn;
  RecordedCall::of_residue(region().hand_out_residue(part_of(block, block.address, block.bytes, {}), kept));
}

void end_residue(const Block& block) { region().free_residue(part_of(block, block.address, block.bytes, {})); }

}  // namespace gvb::sim
