#include "sim/card/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/shared_file.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"

namespace gvb::sim {
namespace {

constexpr int64_t kReserved = 2 * kMiB;

std::string object_prefix() { return "gvb-sim-" + std::to_string(getuid()) + "-"; }

std::string object_name(const Settings& settings) { return "/" + object_prefix() + settings.region; }

std::string why_not(const std::string& name, const char* what) {
  if (errno == EPERM)
    return "Expected shared memory " + name +
           " to belong to this user alone but another one owns it or may use it: " + "remove /dev/shm" + name +
           ", or give GVB_SIM another region.";
  return "Shared memory " + name + " cannot be " + what + ": " + std::strerror(errno) + ".";
}

// Returns -1 if there is no room.
int add_participant(RegionState* state, Role role) {
  const RegionLock lock(state);
  reap_dead(state);
  for (int i = 0; i < kMaxParticipants; ++i) {
    Participant& participant = state->participants[i];
    if (participant.pid != 0) continue;
    participant = {};
    state->checkpoints[i].reset();
    participant.start_time = start_time_of(getpid());
    participant.observer = role == Role::kObserver;
    participant.pid = getpid();
    return i;
  }
  return -1;
}

// The memory that the card reserves is neither free nor used. For a card that is split into instances, the instances
// are counted.
MemoryUse memory_of(const RegionState& state, int place, int participant) {
  const CardSettings& card = state.settings.cards[place];
  const Participant& own = state.participants[participant];
  int64_t used = state.used[place];
  for (int64_t i = 0; i < card.instances; ++i) used += state.used[card.first_instance + i];
  const int64_t total = card.memory_mib * kMiB;
  const int64_t free = total - kReserved - used;
  const int64_t left = own.limit[place] > 0 ? own.limit[place] - own.used[place] : free;
  const int64_t limit = own.hard[place] > 0 ? std::min(total, own.hard[place]) : total;
  return {total, kReserved, used, std::max<int64_t>(0, std::min({free, left, room_in_group(state, place, own)})),
          limit};
}

// Why a process with these settings cannot join the region; empty if it can.
std::string join(RegionState* state, const Settings& settings, Role role) {
  if (role == Role::kObserver) return "";
  const std::string different = difference(settings, state->settings);
  return different.empty() ? ""
                           : std::string("Expected the GVB_SIM settings of the live processes in region '") +
                                 settings.region + "' but received " + different + ".";
}

// Looks at the name only under the lock: without it, the name may become that of a new region meanwhile. Who makes a
// region holds the lock until it is written: one that is not was left by a process that was killed before.
bool is_abandoned(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !SharedFile::has_name(fd)) return false;
  const off_t bytes = lseek(fd, 0, SEEK_END);
  if (bytes == 0) return true;
  if (bytes != static_cast<off_t>(sizeof(RegionState))) return false;
  void* at = mmap(nullptr, sizeof(RegionState), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  const auto* state = static_cast<const RegionState*>(at);
  const bool abandoned = state->magic == 0 || (state->magic == kRegionMagic && is_over(*state));
  munmap(at, sizeof(RegionState));
  return abandoned;
}

// Unlinks regions whose last process was killed and so could not do it.
void sweep_abandoned() {
  DIR* directory = opendir("/dev/shm");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.compare(0, object_prefix().size(), object_prefix()) != 0) continue;
    const int fd = SharedFile::open_object("/" + name);
    if (fd < 0) continue;
    if (is_abandoned(fd)) shm_unlink(("/" + name).c_str());
    close(fd);
  }
  closedir(directory);
}

}  // namespace

int64_t room_on_card(const RegionState& state, int place, int participant) {
  return memory_of(state, place, participant).free;
}

Region::Region(RegionState* state, int participant, int file) : state_(state), participant_(participant), file_(file) {
  for (int place = 0; place < kMaxDevices; ++place) cards_.emplace_back(state, place, participant);
}

Region::Attached Region::attach(const Settings& settings, Role role) {
  sweep_abandoned();
  const std::string name = object_name(settings);
  const SharedFile object = SharedFile::object(name);
  if (!object.opened()) return {nullptr, why_not(name, "opened")};
  auto* state = static_cast<RegionState*>(object.map(sizeof(RegionState)));
  if (state == nullptr) return {nullptr, why_not(name, "mapped")};
  if (object.size() != sizeof(RegionState) || state->magic != kRegionMagic || is_over(*state)) {
    if (!object.clear(sizeof(RegionState))) return {nullptr, why_not(name, "cleared")};
    initialise(state, settings);
  }
  if (role == Role::kUser) {
    // Observers alone do not keep the card's settings: the next user's settings replace them.
    RegionLock lock(state);
    reap_dead(state);
    if (!any_user_alive(*state)) configure(state, settings);
  }
  const std::string why = join(state, settings, role);
  const int participant = why.empty() ? add_participant(state, role) : -1;
  if (participant < 0) {
    munmap(state, sizeof *state);
    return {nullptr, why.empty() ? "Expected at most " + std::to_string(kMaxParticipants) +
                                       " processes in a GVB_SIM region but received one more."
                                 : why};
  }
  const int file = role == Role::kUser ? SharedFile::open_object(name) : -1;
  return {new Region(state, participant, file), ""};
}

void Region::detach() {
  const std::string name = object_name(state_->settings);
  const SharedFile object = SharedFile::object(name);
  bool last = false;
  {
    RegionLock lock(state_);
    forget(state_, participant_);
    reap_dead(state_);
    last = is_over(*state_);
  }
  if (last) shm_unlink(name.c_str());
  if (file_ >= 0) close(file_);
}

Settings Region::settings() {
  RegionLock lock(state_);
  return state_->settings;
}

bool Region::take(int place, int64_t bytes) {
  for (const bool last_attempt : {false, true}) {
    const RegionLock lock(state_);
    if (state_->participants[participant_].evicted) return false;
    if (last_attempt) reap_dead(state_);
    if (bytes > memory_of(*state_, place, participant_).free) continue;
    state_->used[place] += bytes;
    state_->participants[participant_].used[place] += bytes;
    return true;
  }
  return evict_for(place, bytes) && take(place, bytes);
}

void Region::give(int place, int64_t bytes) {
  const RegionLock lock(state_);
  if (state_->participants[participant_].evicted) return;
  state_->used[place] -= bytes;
  state_->participants[participant_].used[place] -= bytes;
}

void Region::limit_memory(int place, int64_t bytes) {
  const RegionLock lock(state_);
  state_->participants[participant_].limit[place] = bytes;
}

MemoryUse Region::memory(int place) {
  const RegionLock lock(state_);
  reap_dead(state_);
  return memory_of(*state_, place, participant_);
}

std::vector<ProcessUse> Region::processes(int place) {
  const RegionLock lock(state_);
  reap_dead(state_);
  std::vector<ProcessUse> uses;
  const auto add = [&](int64_t where, int instance) {
    const RobustLock lock(&state_->cards[where].mutex);
    const auto& clients = state_->cards[where].timeline.clients;
    for (int i = 0; i < kMaxParticipants; ++i) {
      const Participant& participant = state_->participants[i];
      if (participant.contexts[where] == 0) continue;
      const bool joined = std::any_of(std::begin(clients), std::end(clients), [&](const Client& client) {
        return client.participant == i && client.party == kJoined;
      });
      uses.push_back({participant.pid, participant.used[where], instance, joined});
    }
  };
  const CardSettings& card = state_->settings.cards[place];
  add(place, card.parent < 0 ? -1 : static_cast<int>(card.instance));
  for (int64_t i = 0; i < card.instances; ++i) add(card.first_instance + i, static_cast<int>(i));
  return uses;
}

KernelTimes Region::kernel_times(int place) {
  const RegionLock region(state_);
  reap_dead(state_);
  card(place).look();
  const RobustLock lock(&state_->cards[place].mutex);
  const Timeline& timeline = state_->cards[place].timeline;
  KernelTimes times{timeline.now, {}};
  for (int i = 0; i < kMaxParticipants; ++i) {
    const Participant& participant = state_->participants[i];
    if (participant.contexts[place] == 0) continue;
    KernelTimes::Of time{participant.pid, 0};
    for (const Client& client : timeline.clients)
      if (client.participant == i) time.ns += client.kernel_ns;
    times.processes.push_back(time);
  }
  return times;
}

TrafficSoFar Region::traffic(int place) {
  card(place).look();
  const RobustLock lock(&state_->cards[place].mutex);
  const Timeline& timeline = state_->cards[place].timeline;
  return {timeline.now, timeline.traffic};
}

double Region::energy_j(int place) {
  const RegionLock lock(state_);
  return state_->settings.cards[place].power_w * static_cast<double>(raw_now() - state_->made_at) / 1e9;
}

uint64_t Region::xid_count(int place) {
  card(place).look();
  const RobustLock lock(&state_->cards[place].mutex);
  return state_->cards[place].timeline.xids;
}

std::optional<Region::Xid> Region::xid(int place, uint64_t after) {
  if (after >= xid_count(place)) return std::nullopt;
  const RobustLock lock(&state_->cards[place].mutex);
  const Timeline& timeline = state_->cards[place].timeline;
  const uint64_t number = timeline.xids > kXidEvents ? std::max(after, timeline.xids - kXidEvents) : after;
  return Xid{timeline.xid_events[number % kXidEvents].xid, number + 1};
}

uint64_t Region::add_export(int place, int file, uint64_t offset, uint64_t bytes) {
  uint64_t ticket = 0;
  while (ticket == 0)
    if (getrandom(&ticket, sizeof ticket, 0) != sizeof ticket) return 0;
  const RegionLock lock(state_);
  for (Export& exported : state_->exports) {
    if (exported.pid == getpid() && exported.file == file && exported.offset == offset) return exported.ticket;
    if (exported.pid != 0) continue;
    exported = {participant_, getpid(), ticket, place, file, offset, bytes};
    return ticket;
  }
  return 0;
}

void Region::withdraw_export(int file, uint64_t offset) {
  const RegionLock lock(state_);
  for (Export& exported : state_->exports)
    if (exported.pid == getpid() && exported.file == file && exported.offset == offset) exported = {};
}

std::optional<Export> Region::find_export(uint64_t ticket) {
  const RegionLock lock(state_);
  reap_dead(state_);
  for (const Export& exported : state_->exports)
    if (exported.pid != 0 && exported.ticket == ticket) return exported;
  return std::nullopt;
}

void Region::leave_residue(Residue residue) {
  residue.participant = participant_;
  const RegionLock lock(state_);
  leave(&state_->residues, residue);
}

void Region::copy_residue(Residue from, Residue to) {
  if (state_->residues.count.load(std::memory_order_relaxed) == 0) return;
  from.participant = to.participant = participant_;
  const RegionLock lock(state_);
  copied(&state_->residues, from, to);
}

void Region::free_residue(Residue where) {
  if (state_->residues.count.load(std::memory_order_relaxed) == 0) return;
  where.participant = participant_;
  const RegionLock lock(state_);
  freed(&state_->residues, where);
}

uint64_t Region::hand_out_residue(Residue where, Kept kept) {
  if (state_->residues.count.load(std::memory_order_relaxed) == 0) return 0;
  where.participant = participant_;
  const RegionLock lock(state_);
  reap_dead(state_);
  return hand_out(&state_->residues, where, kept);
}

FoundResidue Region::residue_at(Residue where) {
  where.participant = participant_;
  const RegionLock lock(state_);
  return look_at(state_->residues, where);
}

FoundResidue Region::residue_on_chip(Residue where, bool leaks) {
  where.participant = participant_;
  const RegionLock lock(state_);
  return look_at_chip(state_->residues, where, leaks);
}

void Region::act(Act act) {
  __atomic_store_n(&state_->participants[participant_].acted_at[static_cast<int>(act)], raw_now(), __ATOMIC_RELAXED);
}

double Region::leaked_ns() const {
  constexpr int64_t kNoticedNs = 3'000'000;
  const Settings& all = state_->settings;
  const double leaks[kActs] = {all.launch_leak_ns, all.alloc_leak_ns, all.context_leak_ns, all.copy_leak_ns};
  double most = 0;
  for (int i = 0; i < kMaxParticipants; ++i)
    for (int act = 0; act < kActs; ++act)
      if (i != participant_ && leaks[act] > most &&
          raw_now() - __atomic_load_n(&state_->participants[i].acted_at[act], __ATOMIC_RELAXED) < kNoticedNs)
        most = leaks[act];
  return most;
}

void Region::count_context(int place, int change) {
  const RegionLock lock(state_);
  state_->participants[participant_].contexts[place] += change;
}

void Region::spend_exclusively(double nanoseconds) {
  const RobustLock turn(&state_->exclusive);
  const HostCost cost(nanoseconds);
}

}  // namespace gvb::sim
