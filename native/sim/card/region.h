#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/card/card.h"
#include "sim/card/residue.h"
#include "sim/settings.h"

namespace gvb::sim {

struct RegionState;
struct Export;

struct ProcessUse {
  int pid;
  int64_t bytes;
  int instance;  // of MIG; -1: none
};

// Of the processes' contexts, as far as the card's time has passed.
struct KernelTimes {
  struct Of {
    int pid;
    double ns;  // in which one of its kernels ran
  };
  int64_t at;  // of the card's time
  std::vector<Of> processes;
};

struct TrafficSoFar {
  int64_t at;  // of the card's time
  Traffic bytes;
};

struct MemoryUse {
  int64_t total;
  int64_t reserved;  // by the card itself; neither free nor used
  int64_t used;
  int64_t free;  // for this process, whose limit may be lower
};

// A user's settings make the card; an observer sees the existing card and ignores its own settings.
enum class Role { kUser, kObserver };

// The cards as all processes with one `region` setting see them. Owners that died are reaped by the next process that
// looks.
class Region {
 public:
  // Null with the reason when live users hold the region with other settings.
  struct Attached {
    Region* region;
    std::string why;
  };
  static Attached attach(const Settings& settings, Role role);
  void detach();  // the last one out unlinks the shared memory

  Settings settings();  // of the card, which an observer's own need not be
  // Of the memory of a card, and of the limit of this process where it has one.
  bool take(int place, int64_t bytes);
  void give(int place, int64_t bytes);
  void limit_memory(int place, int64_t bytes);
  MemoryUse memory(int place);
  std::vector<ProcessUse> processes(int place);  // those with a live context

  KernelTimes kernel_times(int place);
  TrafficSoFar traffic(int place);
  double energy_j(int place);  // since the region was made: its power all the time

  // The card's Xid events: how many there were, and the first one of those after so many.
  struct Xid {
    int number;
    uint64_t told;  // how many there were with it
  };
  uint64_t xid_count(int place);
  std::optional<Xid> xid(int place, uint64_t after);

  // Blocks of one process that others may map, by ticket; 0 where there is no room.
  uint64_t add_export(int place, int file, uint64_t offset, uint64_t bytes);
  void withdraw_export(int file, uint64_t offset);
  std::optional<Export> find_export(uint64_t ticket);

  // Of this process, whatever participant they name: see residue.h.
  void leave_residue(Residue residue);
  void copy_residue(Residue from, Residue to);
  void free_residue(Residue where);
  uint64_t hand_out_residue(Residue where, Kept kept);
  FoundResidue residue_at(Residue where);
  FoundResidue residue_on_chip(Residue where, bool leaks);

  void count_context(int place, int change);
  Card& card(int place) { return cards_[static_cast<size_t>(place)]; }

  // Spends host time that no other process of the region spends meanwhile.
  void spend_exclusively(double nanoseconds);

 private:
  Region(RegionState* state, int participant, int file);

  RegionState* state_;
  int participant_;
  int file_;  // a user's, as a driver holds its device files open; -1: none
  std::vector<Card> cards_;
};

}  // namespace gvb::sim
