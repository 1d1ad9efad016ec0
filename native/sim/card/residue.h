// What memory still holds when it is handed out: tags that the kernels of residue.cu left there. The content itself is
// not kept, only how much of which tag lies where: a card may be filled with one and costs nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace gvb::sim {

// What is reused. Each way to allocate device memory hands out the same.
enum class Medium : int32_t { kDevice, kHost, kShared, kLocal, kRegisters };

// Who hands out or lets in what another process left, instead of clearing or refusing it: the bits of the setting
// `residue`, by these names.
enum class Leak : int64_t {
  kAlloc,
  kPool,
  kVirtual,
  kManaged,
  kPinned,
  kShared,
  kLocal,
  kRegisters,
  kIpc,         // a handle of a block that was freed still opens it
  kDescriptor,  // a descriptor that was opened by its name imports like one that was given
  kArray,
};
constexpr const char* kLeakNames[] = {"alloc", "pool",      "vmm", "managed",    "pinned", "shared",
                                      "local", "registers", "ipc", "descriptor", "array"};

// Only what distinguishes a tag from others is stored.
struct Mark {
  uint64_t low = 0, high = 0;
  bool operator==(const Mark& other) const { return low == other.low && high == other.high; }
};

struct Residue {
  uint64_t bytes;    // 0: the place is free
  uint64_t address;  // in its participant's memory; 0: it was freed
  Mark mark;
  int participant;  // kNobody: of a process that has ended
  int place;
  Medium medium;
};
constexpr int kNobody = -1;
constexpr int kMaxResidues = 4096;

struct Residues {
  std::atomic<int> count;  // without the lock: most cards never have any
  Residue all[kMaxResidues];
};

struct FoundResidue {
  uint64_t tagged = 0;
  uint64_t other = 0;
};

// All with the region's mutex held.
void leave(Residues* residues, const Residue& residue);                   // over what was there
void copied(Residues* residues, const Residue& from, const Residue& to);  // of as many bytes, over what was there
void freed(Residues* residues, const Residue& where);                     // of `bytes` from `address` on
void process_ended(Residues* residues, int participant);
// Whose leftovers memory keeps when it is handed out; the others' are cleared.
enum class Kept { kNone, kOwn, kAll };
// Returns how much of others memory at `where` holds.
uint64_t hand_out(Residues* residues, const Residue& where, Kept kept);
FoundResidue look_at(const Residues& residues, const Residue& where);
// On the chip there is what was written last.
FoundResidue look_at_chip(const Residues& residues, const Residue& where, bool leaks);

}  // namespace gvb::sim
