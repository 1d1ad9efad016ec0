#include "sim/card/region_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "sim/clock.h"

namespace gvb::sim {
namespace {

void recompute_totals(RegionState* state) {
  for (int device = 0; device < kMaxDevices; ++device) {
    int64_t used = 0;
    for (const Participant& participant : state->participants) used += participant.used[device];
    state->used[device] = used;
  }
}

bool alive(const Participant& participant) {
  return participant.pid != 0 && start_time_of(participant.pid) == participant.start_time;
}

}  // namespace

uint64_t start_time_of(int pid) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%d/stat", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The command name is in parentheses and may contain any character; the state follows it, and the start time 19
  // fields later.
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
  make_robust(&state->mutex);
  make_robust(&state->exclusive);
  for (CardState& card : state->cards) {
    make_robust(&card.mutex);
    initialise(&card.timeline);
  }
  configure(state, settings);
  state->made_at = raw_now();
  state->magic = kRegionMagic;
}

void configure(RegionState* state, const Settings& settings) {
  state->settings = settings;
  for (CardState& card : state->cards) card.timeline.faults_spread = settings.fault_spread != 0;
  for (int place = 0; place < kMaxDevices; ++place) {
    Timeline& timeline = state->cards[place].timeline;
    timeline.slice_ns = static_cast<int64_t>(settings.cards[place].timeslice_us * 1000);
    timeline.switch_ns = static_cast<int64_t>(settings.cards[place].switch_us * 1000);
    timeline.turns_end = static_cast<TurnsEnd>(settings.cards[place].turns_end);
    timeline.fault_ns = static_cast<int64_t>(settings.cards[place].fault_us * 1000);
    timeline.recovery_ns = static_cast<int64_t>(settings.cards[place].recovery_ms * 1e6);
    timeline.bus_in_gbs = gbs_to_card(settings.cards[place]);
    timeline.bus_out_gbs = gbs_from_card(settings.cards[place]);
    timeline.link_gbs = settings.cards[place].link_gbs;
    timeline.cache.capacity = static_cast<double>(settings.cards[place].l2_mib * kMiB);
  }
}

bool any_alive(const RegionState& state) {
  return std::any_of(std::begin(state.participants), std::end(state.participants), alive);
}

bool is_over(const RegionState& state) {
  const int64_t now = raw_now();
  return !any_alive(state) && std::none_of(std::begin(state.cards), std::end(state.cards),
                                           [&](const CardState& card) { return card.timeline.recovered_at > now; });
}

bool any_user_alive(const RegionState& state) {
  return std::any_of(std::begin(state.participants), std::end(state.participants),
                     [](const Participant& participant) { return !participant.observer && alive(participant); });
}

void forget(RegionState* state, int index) {
  Participant& participant = state->participants[index];
  for (int place = 0; place < kMaxDevices; ++place) {
    state->used[place] -= participant.used[place];
    if (participant.contexts[place] == 0 && state->checkpoints[index].contexts[place] == 0) continue;
    const RobustLock lock(&state->cards[place].mutex);
    Timeline& timeline = state->cards[place].timeline;
    for (int client = 0; client < kMaxClients; ++client)
      if (timeline.clients[client].participant == index) close_client(&timeline, client);
  }
  for (Export& exported : state->exports)
    if (exported.pid != 0 && exported.participant == index) exported = {};
  process_ended(&state->residues, index);
  state->checkpoints[index].reset();
  participant = {};
}

void reap_dead(RegionState* state) {
  const int self = getpid();
  for (int i = 0; i < kMaxParticipants; ++i) {
    const Participant& participant = state->participants[i];
    if (participant.pid != 0 && participant.pid != self && !alive(participant)) forget(state, i);
  }
}

RegionLock::RegionLock(RegionState* state) : lock_(&state->mutex) {
  if (lock_.owner_died()) recompute_totals(state);
}

}  // namespace gvb::sim
