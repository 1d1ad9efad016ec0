#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/card/card.h"
#include "sim/card/residue.h"
#include "sim/settings.h"

namespace gvb::sim {

struct Checkpointing;
struct RegionState;
struct Export;

struct ProcessUse {
  int pid;
  int64_t bytes;
  int instance;  // MIG instance; -1: none
  bool mps_client;
};

// Kernel times of the processes' contexts, up to the card's present time.
struct KernelTimes {
  struct Of {
    int pid;
    double ns;  // time during which one of its kernels ran
  };
  int64_t at;  // in the card's time
  std::vector<Of> processes;
};

struct TrafficSoFar {
  int64_t at;  // in the card's time
  Traffic bytes;
};

struct MemoryUse {
  int64_t total;
  int64_t reserved;  // memory reserved by the card itself; neither free nor used
  int64_t used;
  int64_t free;   // free memory for this process, which may have a lower limit
  int64_t limit;  // the total that the driver tells the process
};

// A cgroup with limits of device memory.
struct MemoryGroup {
  uint64_t id;   // not 0
  int64_t hard;  // 0: none
  int64_t soft;
};

// A user's settings define the card; an observer sees the existing card and ignores its own settings.
enum class Role { kUser, kObserver };

// The cards as all processes with the same `region` setting see them. Owners that died are reaped by the next process
// that looks.
class Region {
 public:
  // Null, with the reason, if live users hold the region with other settings.
  struct Attached {
    Region* region;
    std::string why;
  };
  static Attached attach(const Settings& settings, Role role);
  void detach();  // the last process unlinks the shared memory

  Settings settings();  // the card's settings; an observer's own may differ
  // Takes memory of the card, within the limits of this process and its group. On a full card others give way.
  bool take(int place, int64_t bytes);
  void give(int place, int64_t bytes);
  void limit_memory(int place, int64_t bytes);
  void join_group(int place, const MemoryGroup& group);
  MemoryUse memory(int place);
  std::vector<ProcessUse> processes(int place);  // processes with a live context

  KernelTimes kernel_times(int place);
  TrafficSoFar traffic(int place);
  double energy_j(int place);  // since the region was created, at constant power

  // The card's Xid events: their number, and the first one after a given number.
  struct Xid {
    int number;
    uint64_t told;  // number of events up to and including this one
  };
  uint64_t xid_count(int place);
  std::optional<Xid> xid(int place, uint64_t after);

  // Blocks of one process that others may map, by ticket; 0 if there is no room.
  uint64_t add_export(int place, int file, uint64_t offset, uint64_t bytes);
  void withdraw_export(int file, uint64_t offset);
  std::optional<Export> find_export(uint64_t ticket);

  // Always counts for this process, whichever participant they name: see residue.h.
  void leave_residue(Residue residue);
  void copy_residue(Residue from, Residue to);
  void free_residue(Residue where);
  uint64_t hand_out_residue(Residue where, Kept kept);
  FoundResidue residue_at(Residue where);
  FoundResidue residue_on_chip(Residue where, bool leaks);

  // Checkpoints (checkpointing.cpp): a participant by its number.
  int user_of(int pid);  // -1: no live process of the region that uses its cards
  Checkpointing& checkpointing(int participant);
  Checkpointing& own_checkpointing();
  bool is_joined(int participant);     // by MPS
  bool on_instance(int participant);   // has a context on a MIG instance
  bool has_work(int participant);      // submitted and not over by now
  int64_t allocated(int participant);  // without its contexts, wherever it is now
  void leave_cards();                  // this process: its memory is free for others, and NVML lists it no more
  bool return_to_cards();              // false where one of them has no room

  void act(Act act);
  double leaked_ns() const;  // what the latest acts of others add to a strong load now

  void count_context(int place, int change);
  Card& card(int place) { return cards_[static_cast<size_t>(place)]; }

  // Spends host time in turn: no other process of the region spends any meanwhile.
  void spend_exclusively(double nanoseconds);

 private:
  Region(RegionState* state, int participant, int file);

  // Whether a process of a group above its soft limit lost its memory because this one's group, within its own, needs
  // so much more.
  bool evict_for(int place, int64_t bytes);

  RegionState* state_;
  int participant_;
  int file_;  // a user keeps it open, as a driver does its device files; -1: none
  std::vector<Card> cards_;
};

}  // namespace gvb::sim
