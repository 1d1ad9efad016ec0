#include "sim/card/checkpointing.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

#include "sim/card/region.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"

namespace gvb::sim {
namespace {

// Not the private kind: the words are in shared memory.
void futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* limit) {
  syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace

void Checkpointing::reset() {
  for (std::atomic<uint32_t>* word : {&closed, &inside, &asked, &answered}) word->store(0);
  for (std::atomic<int>* word : {&state, &thread, &controller}) word->store(0);
  code = 0;
  for (int place = 0; place < kMaxDevices; ++place) used[place] = contexts[place] = 0;
}

void wait_on(const std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds) {
  const timespec limit = {static_cast<time_t>(nanoseconds / 1'000'000'000),
                          static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(word, FUTEX_WAIT, value, &limit);
}

void wake_all(std::atomic<uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

Checkpointing& Region::checkpointing(int participant) { return state_->checkpoints[participant]; }

Checkpointing& Region::own_checkpointing() { return checkpointing(participant_); }

int Region::user_of(int pid) {
  const RegionLock lock(state_);
  reap_dead(state_);
  for (int i = 0; i < kMaxParticipants; ++i)
    if (pid > 0 && state_->participants[i].pid == pid && !state_->participants[i].observer) return i;
  return -1;
}

bool Region::is_joined(int participant) {
  for (CardState& card : state_->cards) {
    const RobustLock lock(&card.mutex);
    for (const Client& client : card.timeline.clients)
      if (client.participant == participant && client.party == kJoined) return true;
  }
  return false;
}

bool Region::on_instance(int participant) {
  const RegionLock lock(state_);
  for (int place = 0; place < kMaxDevices; ++place)
    if (state_->participants[participant].contexts[place] > 0 && state_->settings.cards[place].parent >= 0) return true;
  return false;
}

bool Region::has_work(int participant) {
  for (int place = 0; place < state_->settings.places; ++place) {
    card(place).look();
    const RobustLock lock(&state_->cards[place].mutex);
    Timeline& timeline = state_->cards[place].timeline;
    for (int i = 0; i < timeline.lanes_ever; ++i) {
      const Lane& lane = timeline.lanes[i];
      if (lane.client < 0 || timeline.clients[lane.client].participant != participant) continue;
      // What was computed ahead is not over before its time has come.
      if (lane.pending() || timeline.now > raw_now()) return true;
    }
  }
  return false;
}

int64_t Region::allocated(int participant) {
  const RegionLock lock(state_);
  const Checkpointing& away = state_->checkpoints[participant];
  const Participant& here = state_->participants[participant];
  int64_t bytes = 0;
  for (int place = 0; place < kMaxDevices; ++place) {
    const int64_t contexts = here.contexts[place] + away.contexts[place];
    bytes += here.used[place] + away.used[place] - contexts * state_->settings.context_mib * kMiB;
  }
  return bytes;
}

void Region::leave_cards() {
  const RegionLock lock(state_);
  Checkpointing& away = own_checkpointing();
  Participant& here = state_->participants[participant_];
  for (int place = 0; place < kMaxDevices; ++place) {
    state_->used[place] -= here.used[place];
    away.used[place] = std::exchange(here.used[place], 0);
    away.contexts[place] = std::exchange(here.contexts[place], 0);
  }
}

bool Region::return_to_cards() {
  const RegionLock lock(state_);
  reap_dead(state_);
  Checkpointing& away = own_checkpointing();
  Participant& here = state_->participants[participant_];
  for (int place = 0; place < kMaxDevices; ++place)
    if (away.used[place] > room_on_card(*state_, place, participant_)) return false;
  for (int place = 0; place < kMaxDevices; ++place) {
    state_->used[place] += away.used[place];
    here.used[place] += std::exchange(away.used[place], 0);
    here.contexts[place] += std::exchange(away.contexts[place], 0);
  }
  return true;
}

}  // namespace gvb::sim
