#include "sim/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/clock.h"
#include "sim/region_state.h"

namespace gvb::sim {
namespace {

constexpr int64_t kReserved = 2 * kMiB;

std::string objectPrefix() { return "gvb-sim-" + std::to_string(getuid()) + "-"; }

std::string objectName(const Settings& settings) { return "/" + objectPrefix() + settings.region; }

// The object, flocked: attaching and detaching exclude each other, also where the mutex does not exist yet.
class LockedObject {
 public:
  explicit LockedObject(const std::string& name) {
    while ((fd_ = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) >= 0) {
      while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
      }
      struct statx status;
      // Whoever held the lock before may have been the last one out and have unlinked what we opened.
      if (statx(fd_, "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE, &status) == 0 && status.stx_nlink > 0) {
        size_ = static_cast<int64_t>(status.stx_size);
        return;
      }
      close(fd_);
    }
  }
  ~LockedObject() {
    if (fd_ < 0) return;
    flock(fd_, LOCK_UN);  // closing does not: a mapping keeps the open file, and with it the lock
    close(fd_);
  }
  LockedObject(const LockedObject&) = delete;
  LockedObject& operator=(const LockedObject&) = delete;

  RegionState* map() {
    if (fd_ < 0) return nullptr;
    if (size_ != sizeof(RegionState) && ftruncate(fd_, sizeof(RegionState)) != 0) return nullptr;
    void* at = mmap(nullptr, sizeof(RegionState), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    return at == MAP_FAILED ? nullptr : static_cast<RegionState*>(at);
  }
  bool wasComplete() const { return size_ == sizeof(RegionState); }

 private:
  int fd_ = -1;
  int64_t size_ = 0;
};

int addParticipant(RegionState* state, Role role) {
  for (int i = 0; i < kMaxParticipants; ++i) {
    Participant& participant = state->participants[i];
    if (participant.pid != 0) continue;
    participant = {};
    participant.startTime = startTimeOf(getpid());
    participant.observer = role == Role::kObserver;
    participant.pid = getpid();
    return i;
  }
  return -1;
}

bool isAbandoned(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || lseek(fd, 0, SEEK_END) != sizeof(RegionState)) return false;
  void* at = mmap(nullptr, sizeof(RegionState), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  const auto* state = static_cast<const RegionState*>(at);
  const bool abandoned = state->magic == kRegionMagic && !anyAlive(*state);
  munmap(at, sizeof(RegionState));
  return abandoned;
}

// A region whose last process was killed had nobody to unlink it.
void sweepAbandoned() {
  DIR* directory = opendir("/dev/shm");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.compare(0, objectPrefix().size(), objectPrefix()) != 0) continue;
    const int fd = shm_open(("/" + name).c_str(), O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) continue;
    if (isAbandoned(fd)) shm_unlink(("/" + name).c_str());
    close(fd);
  }
  closedir(directory);
}

}  // namespace

Region* Region::attach(const Settings& settings, Role role, std::string* why) {
  sweepAbandoned();
  LockedObject object(objectName(settings));
  RegionState* state = object.map();
  if (state == nullptr) {
    *why = "Expected to open shared memory " + objectName(settings) + " but received: " + std::strerror(errno) + ".";
    return nullptr;
  }
  if (!object.wasComplete() || state->magic != kRegionMagic || !anyAlive(*state)) initialise(state, settings);
  if (role == Role::kUser) {
    // Observers alone hold no card in place: the next user's settings make it.
    RegionLock lock(state);
    reapDead(state);
    if (!anyUserAlive(*state)) state->settings = settings;
  }
  const std::string different = role == Role::kUser ? difference(settings, state->settings) : "";
  int participant = -1;
  if (!different.empty()) {
    *why = std::string("Expected the GVB_SIM settings of the live processes in region '") + settings.region +
           "' but received " + different + ".";
  } else {
    RegionLock lock(state);
    reapDead(state);
    participant = addParticipant(state, role);
    if (participant < 0)
      *why = "Expected at most " + std::to_string(kMaxParticipants) + " processes in a GVB_SIM region.";
  }
  if (participant < 0) {
    munmap(state, sizeof *state);
    return nullptr;
  }
  const int file = role == Role::kUser ? shm_open(objectName(settings).c_str(), O_RDONLY | O_CLOEXEC, 0600) : -1;
  return new Region(state, participant, file);
}

void Region::detach() {
  const std::string name = objectName(state_->settings);
  LockedObject object(name);
  bool last = true;
  {
    RegionLock lock(state_);
    forget(state_, participant_);
    reapDead(state_);
    for (const Participant& participant : state_->participants) last = last && participant.pid == 0;
  }
  if (last) shm_unlink(name.c_str());
  if (file_ >= 0) close(file_);
}

Settings Region::settings() {
  RegionLock lock(state_);
  return state_->settings;
}

bool Region::take(int device, int64_t bytes) {
  for (const bool lastAttempt : {false, true}) {
    RegionLock lock(state_);
    if (lastAttempt) reapDead(state_);
    int64_t& used = state_->devices[device].used;
    if (bytes <= state_->settings.memory_mib * kMiB - kReserved - used) {
      used += bytes;
      state_->participants[participant_].used[device] += bytes;
      return true;
    }
  }
  return false;
}

void Region::give(int device, int64_t bytes) {
  RegionLock lock(state_);
  state_->devices[device].used -= bytes;
  state_->participants[participant_].used[device] -= bytes;
}

MemoryUse Region::memory(int device) {
  RegionLock lock(state_);
  reapDead(state_);
  return {state_->settings.memory_mib * kMiB, kReserved, state_->devices[device].used};
}

std::vector<ProcessUse> Region::processes(int device) {
  RegionLock lock(state_);
  reapDead(state_);
  std::vector<ProcessUse> uses;
  for (const Participant& participant : state_->participants)
    if (participant.contexts[device] > 0) uses.push_back({participant.pid, participant.used[device]});
  return uses;
}

bool Region::busy(int device) const {
  const DeviceState& card = state_->devices[device];
  const int64_t now = rawNow();
  for (int i = 0; i < card.lanesEver.load(std::memory_order_relaxed); ++i)
    if (card.lanes[i].tail.load(std::memory_order_relaxed) > now) return true;
  return false;
}

void Region::spendExclusively(double nanoseconds) {
  const ExclusiveTurn turn(state_);
  const HostCost cost(nanoseconds);
}

int Region::openContext(int device, int64_t bytes) {
  if (!take(device, bytes)) return -1;
  {
    RegionLock lock(state_);
    DeviceState& card = state_->devices[device];
    for (int i = 0; i < kMaxLanes; ++i) {
      if (card.lanes[i].participant >= 0) continue;
      card.lanes[i].participant = participant_;
      card.lanes[i].tail.store(0, std::memory_order_relaxed);
      card.lanesEver.store(std::max(card.lanesEver.load(std::memory_order_relaxed), i + 1), std::memory_order_relaxed);
      ++state_->participants[participant_].contexts[device];
      return i;
    }
  }
  give(device, bytes);
  return -1;
}

void Region::closeContext(int device, int lane, int64_t bytes) {
  {
    RegionLock lock(state_);
    state_->devices[device].lanes[lane].tail.store(0, std::memory_order_relaxed);
    state_->devices[device].lanes[lane].participant = -1;
    --state_->participants[participant_].contexts[device];
  }
  give(device, bytes);
}

Placement Region::place(int device, int lane, int64_t earliest, int64_t duration) {
  DeviceState& card = state_->devices[device];
  int64_t others[kMaxLanes];
  int busy = 0;
  const int lanes = state_->settings.mps ? 0 : card.lanesEver.load(std::memory_order_relaxed);
  for (int i = 0; i < lanes; ++i) {
    const int64_t work = i == lane ? 0 : card.lanes[i].tail.load(std::memory_order_relaxed) - earliest;
    if (work > 0) others[busy++] = work;
  }
  const auto slice = static_cast<int64_t>(state_->settings.timeslice_us * 1000);
  int64_t at = earliest;
  const auto othersRun = [&] {
    for (int i = 0; i < busy;) {
      const int64_t run = std::min(slice, others[i]);
      at += run;
      others[i] -= run;
      if (others[i] == 0)
        others[i] = others[--busy];
      else
        ++i;
    }
  };
  othersRun();
  const int64_t start = at;
  for (int64_t left = duration; left > 0;) {
    const int64_t run = busy > 0 ? std::min(slice, left) : left;
    at += run;
    left -= run;
    if (left > 0) othersRun();
  }
  std::atomic<int64_t>& tail = card.lanes[lane].tail;
  int64_t seen = tail.load(std::memory_order_relaxed);
  while (seen < at && !tail.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
  }
  return {start, at};
}

}  // namespace gvb::sim
