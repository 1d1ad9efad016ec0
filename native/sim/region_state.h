// The layout of the shared memory object, and what guards it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <string>

#include "sim/settings.h"

namespace gvb::sim {

constexpr int kMaxParticipants = 256;
constexpr int kMaxLanes = 256;
constexpr uint64_t kRegionMagic = 0x6776622d73696d31;

// One loaded library of one process.
struct Participant {
  int pid;
  uint64_t startTime;  // of the process, because pids are reused
  bool observer;
  int64_t used[kMaxDevices];
  int contexts[kMaxDevices];
};

struct Lane {
  int participant;  // -1 when free
  std::atomic<int64_t> tail;
};

struct DeviceState {
  int64_t used;
  std::atomic<int> lanesEver;  // lanes beyond were never opened
  Lane lanes[kMaxLanes];
};

struct RegionState {
  uint64_t magic;
  pthread_mutex_t mutex;
  pthread_mutex_t exclusive;
  Settings settings;
  Participant participants[kMaxParticipants];
  DeviceState devices[kMaxDevices];
};

void initialise(RegionState* state, const Settings& settings);
bool anyAlive(const RegionState& state);
bool anyUserAlive(const RegionState& state);
void reapDead(RegionState* state);
void forget(RegionState* state, int participant);
uint64_t startTimeOf(int pid);  // 0 when the process is gone or a zombie

// Holds the region's mutex; an owner that died inside leaves totals to be recomputed.
class RegionLock {
 public:
  explicit RegionLock(RegionState* state);
  ~RegionLock();
  RegionLock(const RegionLock&) = delete;
  RegionLock& operator=(const RegionLock&) = delete;

 private:
  RegionState* state_;
};

// The region's turn at what one process does at a time; it guards no state, so a dead owner leaves none to repair.
class ExclusiveTurn {
 public:
  explicit ExclusiveTurn(RegionState* state);
  ~ExclusiveTurn();
  ExclusiveTurn(const ExclusiveTurn&) = delete;
  ExclusiveTurn& operator=(const ExclusiveTurn&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace gvb::sim
