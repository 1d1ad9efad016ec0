#include "sim/region_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace gvb::sim {
namespace {

void recomputeTotals(RegionState* state) {
  for (int device = 0; device < kMaxDevices; ++device) {
    int64_t used = 0;
    for (const Participant& participant : state->participants) used += participant.used[device];
    state->devices[device].used = used;
  }
}

bool alive(const Participant& participant) {
  return participant.pid != 0 && startTimeOf(participant.pid) == participant.startTime;
}

}  // namespace

uint64_t startTimeOf(int pid) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%d/stat", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The command name is in parentheses and may hold anything; the state follows it, the start time is 19 fields on.
  const char* field = std::strrchr(text, ')');
  if (field == nullptr || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X') return 0;
  field += 2;
  for (int i = 0; i < 19 && field != nullptr; ++i) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  return field == nullptr ? 0 : std::strtoull(field, nullptr, 10);
}

void initialise(RegionState* state, const Settings& settings) {
  std::memset(static_cast<void*>(state), 0, sizeof *state);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&state->mutex, &attributes);
  pthread_mutex_init(&state->exclusive, &attributes);
  pthread_mutexattr_destroy(&attributes);
  state->settings = settings;
  for (DeviceState& device : state->devices) {
    new (&device.lanesEver) std::atomic<int>(0);
    for (Lane& lane : device.lanes) {
      lane.participant = -1;
      new (&lane.tail) std::atomic<int64_t>(0);
    }
  }
  state->magic = kRegionMagic;
}

bool anyAlive(const RegionState& state) {
  return std::any_of(std::begin(state.participants), std::end(state.participants), alive);
}

bool anyUserAlive(const RegionState& state) {
  return std::any_of(std::begin(state.participants), std::end(state.participants),
                     [](const Participant& participant) { return !participant.observer && alive(participant); });
}

void forget(RegionState* state, int index) {
  Participant& participant = state->participants[index];
  for (int device = 0; device < kMaxDevices; ++device) {
    state->devices[device].used -= participant.used[device];
    for (Lane& lane : state->devices[device].lanes) {
      if (participant.contexts[device] == 0 || lane.participant != index) continue;
      lane.tail.store(0, std::memory_order_relaxed);
      lane.participant = -1;
    }
  }
  participant = {};
}

void reapDead(RegionState* state) {
  const int self = getpid();
  for (int i = 0; i < kMaxParticipants; ++i) {
    const Participant& participant = state->participants[i];
    if (participant.pid != 0 && participant.pid != self && !alive(participant)) forget(state, i);
  }
}

RegionLock::RegionLock(RegionState* state) : state_(state) {
  if (pthread_mutex_lock(&state->mutex) != EOWNERDEAD) return;
  recomputeTotals(state);
  pthread_mutex_consistent(&state->mutex);
}

RegionLock::~RegionLock() { pthread_mutex_unlock(&state_->mutex); }

ExclusiveTurn::ExclusiveTurn(RegionState* state) : mutex_(state->exclusive) {
  if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
}

ExclusiveTurn::~ExclusiveTurn() { pthread_mutex_unlock(&mutex_); }

}  // namespace gvb::sim
