#pragma once

#include <string>
#include <vector>

#include "sim/settings.h"

namespace gvb::sim {

struct RegionState;

struct ProcessUse {
  int pid;
  int64_t bytes;
};

struct MemoryUse {
  int64_t total;
  int64_t reserved;  // by the card itself; neither free nor used
  int64_t used;
  int64_t free() const { return total - reserved - used; }
};

// Where a kernel runs on the device timeline, in rawNow() nanoseconds.
struct Placement {
  int64_t start;
  int64_t end;
};

// A user's settings make the card; an observer sees the card that is there, whatever its own settings say.
enum class Role { kUser, kObserver };

// The cards as all processes with one `region` setting see them. Owners that died are reaped by whoever looks next.
class Region {
 public:
  // Null with the reason in `why` when live users hold the region with other settings.
  static Region* attach(const Settings& settings, Role role, std::string* why);
  void detach();  // the last one out unlinks the shared memory

  Settings settings();  // of the card, which an observer's own need not be
  bool take(int device, int64_t bytes);
  void give(int device, int64_t bytes);
  MemoryUse memory(int device);
  std::vector<ProcessUse> processes(int device);  // those with a live context
  bool busy(int device) const;                    // now, with work of any context

  // Spends host time that no other process of the region spends meanwhile.
  void spendExclusively(double nanoseconds);

  // A context's lane on the device's timeline; takes `bytes` for it. -1 when memory or lanes are exhausted.
  int openContext(int device, int64_t bytes);
  void closeContext(int device, int lane, int64_t bytes);

  // Places `duration` of work that could start at `earliest` between the time slices of other busy contexts.
  Placement place(int device, int lane, int64_t earliest, int64_t duration);

 private:
  Region(RegionState* state, int participant, int file) : state_(state), participant_(participant), file_(file) {}
  void reap();

  RegionState* state_;
  int participant_;
  int file_;  // a user's, as a driver holds its device files open; -1: none
};

}  // namespace gvb::sim
