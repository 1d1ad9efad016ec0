// What reused memory still contains: tags that the kernels of residue.cu left there. Stores how much of which tag lies
// where, not the contents, so filling a whole card costs nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace gvb::sim {

// The memory that is reused. All ways to allocate device memory share one medium.
enum class Medium : int32_t { kDevice, kHost, kShared, kLocal, kRegisters };

// The simulated leaks: where data of another process is handed out instead of cleared, or access granted instead of
// refused. These are the bits of the setting `residue`, by these names.
enum class Leak : int64_t {
  kAlloc,
  kPool,
  kVirtual,
  kManaged,
  kPinned,
  kShared,
  kLocal,
  kRegisters,
  kIpc,         // a handle of a freed block still opens it
  kDescriptor,  // a descriptor opened through /proc imports like one that was passed on
  kArray,
};
constexpr const char* kLeakNames[] = {"alloc", "pool",      "vmm", "managed",    "pinned", "shared",
                                      "local", "registers", "ipc", "descriptor", "array"};

// The part of a tag that distinguishes it from others.
struct Mark {
  uint64_t low = 0, high = 0;
  bool operator==(const Mark& other) const { return low == other.low && high == other.high; }
};

struct Residue {
  uint64_t bytes;    // 0: unused entry
  uint64_t address;  // in its participant's memory; 0: it was freed
  Mark mark;
  int participant;  // kNobody: the process has ended
  int place;
  Medium medium;
};
constexpr int kNobody = -1;
constexpr int kMaxResidues = 4096;

struct Residues {
  std::atomic<int> count;  // read without the lock: most cards never have any
  Residue all[kMaxResidues];
};

struct FoundResidue {
  uint64_t tagged = 0;
  uint64_t other = 0;
};

// The caller holds the region's mutex for all of these.
void leave(Residues* residues, const Residue& residue);                   // replaces what was there
void copied(Residues* residues, const Residue& from, const Residue& to);  // replaces what was there
void freed(Residues* residues, const Residue& where);                     // `bytes` from `address` on
void process_ended(Residues* residues, int participant);
// The processes whose data remain in memory that is handed out; other data is cleared.
enum class Kept { kNone, kOwn, kAll };
// Returns how many bytes of other processes the memory at `where` contains.
uint64_t hand_out(Residues* residues, const Residue& where, Kept kept);
FoundResidue look_at(const Residues& residues, const Residue& where);
// On-chip memory contains what was written last.
FoundResidue look_at_chip(const Residues& residues, const Residue& where, bool leaks);

}  // namespace gvb::sim
