// Limits of the memory of several processes together, as the kernel's cgroups have them, and who gives way on a full
// card.
#include <signal.h>

#include <algorithm>

#include "driver/cuda_abi.h"
#include "sim/card/region.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"

namespace gvb::sim {
namespace {

constexpr int64_t kLooksAgain = 1'000'000;
constexpr int64_t kKilledWithin = 10'000'000'000;

Evicts evicts() { return static_cast<Evicts>(environment().groups.evicts); }

int64_t used_by_group(const RegionState& state, uint64_t group, int place) {
  int64_t used = 0;
  for (const Participant& participant : state.participants)
    if (participant.pid != 0 && participant.group == group) used += participant.used[place];
  return used;
}

bool may_evict(const RegionState& state, int place, const Participant& own, int64_t bytes) {
  const int64_t then = used_by_group(state, own.group, place) + bytes;
  const auto holds = [](int64_t limit, int64_t used) { return limit == 0 || used <= limit; };
  const bool is_promised = then <= own.soft[place] || evicts() == Evicts::kWhoeverHoldsMost;
  return evicts() != Evicts::kNobody && own.group != 0 && is_promised && holds(own.hard[place], then) &&
         holds(own.limit[place], own.used[place] + bytes);
}

// The process that holds most, out of the group that is furthest above its soft limit; -1 if none is above.
int to_evict(const RegionState& state, int place, uint64_t own_group) {
  const bool has_soft = evicts() != Evicts::kWhoeverHoldsMost;
  int found = -1;
  int64_t most_above = 0;
  for (int i = 0; i < kMaxParticipants; ++i) {
    const Participant& other = state.participants[i];
    if (other.pid == 0 || other.group == 0 || other.group == own_group || other.used[place] == 0) continue;
    const int64_t above = used_by_group(state, other.group, place) - (has_soft ? other.soft[place] : 0);
    const bool holds_more = found >= 0 && other.used[place] > state.participants[found].used[place];
    if (above < std::max<int64_t>(1, most_above) || (above == most_above && !holds_more)) continue;
    found = i;
    most_above = above;
  }
  return found;
}

// Takes a process's memory. Its contexts stay, and answer every call with the code.
void lose_contexts(RegionState* state, int index) {
  Participant& lost = state->participants[index];
  lost.evicted = true;
  for (int place = 0; place < kMaxDevices; ++place) {
    state->used[place] -= lost.used[place];
    lost.used[place] = 0;
    const RobustLock lock(&state->cards[place].mutex);
    Timeline& timeline = state->cards[place].timeline;
    for (int client = 0; client < kMaxClients; ++client)
      if (timeline.clients[client].participant == index)
        fail_alone(&timeline, client, abi::CUDA_ERROR_MPS_CLIENT_TERMINATED);
  }
}

}  // namespace

int64_t room_in_group(const RegionState& state, int place, const Participant& own) {
  return own.hard[place] == 0 ? INT64_MAX : own.hard[place] - used_by_group(state, own.group, place);
}

void Region::join_group(int place, const MemoryGroup& group) {
  const RegionLock lock(state_);
  Participant& own = state_->participants[participant_];
  own.group = group.id;
  own.hard[place] = group.hard;
  own.soft[place] = group.soft;
}

bool Region::evict_for(int place, int64_t bytes) {
  int victim = -1;
  Participant chosen{};
  {
    const RegionLock lock(state_);
    const Participant& own = state_->participants[participant_];
    if (!may_evict(*state_, place, own, bytes)) return false;
    victim = to_evict(*state_, place, own.group);
    if (victim < 0) return false;
    chosen = state_->participants[victim];
    if (evicts() != Evicts::kProcess) lose_contexts(state_, victim);
  }
  const HostCost cost(environment().groups.evict_ms * 1e6);
  if (evicts() != Evicts::kProcess) return true;
  if (start_time_of(chosen.pid) == chosen.start_time) kill(chosen.pid, SIGKILL);
  for (const int64_t until = raw_now() + kKilledWithin; raw_now() < until; sleep_for(kLooksAgain)) {
    const RegionLock lock(state_);
    reap_dead(state_);
    const Participant& now = state_->participants[victim];
    if (now.pid != chosen.pid || now.start_time != chosen.start_time) return true;
  }
  return false;
}

}  // namespace gvb::sim
