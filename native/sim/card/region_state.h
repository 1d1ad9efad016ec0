// The layout of the shared memory object, and the locks that guard it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <string>

#include "base/robust_mutex.h"
#include "sim/card/checkpointing.h"
#include "sim/card/residue.h"
#include "sim/card/timeline.h"
#include "sim/settings.h"

namespace gvb::sim {

constexpr int kMaxParticipants = 256;
constexpr uint64_t kRegionMagic = 0x6776622d73696d32;

// One loaded library of one process.
struct Participant {
  int pid;
  uint64_t start_time;  // start time of the process, because pids are reused
  bool observer;
  int64_t used[kMaxDevices];
  int64_t limit[kMaxDevices];  // 0: none
  uint64_t group;              // 0: none
  int64_t hard[kMaxDevices];   // of its group; 0: none
  int64_t soft[kMaxDevices];   // of its group
  bool evicted;                // nothing that it still gives back is counted for it
  int contexts[kMaxDevices];
  int64_t acted_at[kActs];  // atomic: when it last did what others may notice
};

// A block that its process shares with others (cuIpcGetMemHandle).
struct Export {
  int participant;  // participant of `pid`, which holds the file
  int pid;          // 0: free
  uint64_t ticket;  // secret number that the handle must carry
  int place;
  int file;
  uint64_t offset;
  uint64_t bytes;
};
constexpr int kMaxExports = 1024;

struct CardState {
  pthread_mutex_t mutex;  // guards everything below
  Timeline timeline;
};

struct RegionState {
  uint64_t magic;
  pthread_mutex_t mutex;  // guards participants and used; taken before a card's
  pthread_mutex_t exclusive;
  int64_t made_at;
  Settings settings;
  Participant participants[kMaxParticipants];
  Checkpointing checkpoints[kMaxParticipants];
  int64_t used[kMaxDevices];
  Export exports[kMaxExports];
  Residues residues;
  CardState cards[kMaxDevices];
};

// Expects zeroed memory, such as new shared memory.
void initialise(RegionState* state, const Settings& settings);
void configure(RegionState* state, const Settings& settings);  // for cards that no user holds
bool any_alive(const RegionState& state);
// Whether nobody uses it, and no card of it still recovers from a fault.
bool is_over(const RegionState& state);
bool any_user_alive(const RegionState& state);
void reap_dead(RegionState* state);  // with the region's mutex held
void forget(RegionState* state, int participant);
// How many bytes of a card a participant may still take; the caller holds the region's mutex.
int64_t room_on_card(const RegionState& state, int place, int participant);
// How many its group may.
int64_t room_in_group(const RegionState& state, int place, const Participant& own);
uint64_t start_time_of(int pid);  // 0 if the process is gone or a zombie

// Holds the region's mutex; recounts the totals if the previous owner died while it held the mutex.
class RegionLock {
 public:
  explicit RegionLock(RegionState* state);

 private:
  RobustLock lock_;
};

}  // namespace gvb::sim
