// The shared memory in which the ranks of a communicator meet. It belongs to the process that made the unique id; the
// others open it through /proc, so nothing is left behind if a rank is killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver/nccl_abi.h"

namespace gvb::sim {

constexpr int kMostRanks = 16;
constexpr size_t kMostBytes = size_t{64} << 20;  // one rank's part of a collective
constexpr uint64_t kPlaces = 4;                  // collectives whose results not every rank has computed yet

// When a rank's work before a collective ends, and how long the collective takes on it.
struct Arrival {
  std::atomic<uint64_t> collective;
  std::atomic<int64_t> end;
  std::atomic<double> nanoseconds;
};

// One rank's part of a collective, which the others add.
struct Part {
  std::atomic<uint64_t> published;  // number of the collective; they count from 1
  std::atomic<uint64_t> taken;      // collective whose parts this rank has added
};

struct Rendezvous {
  std::atomic<int> joined;
  std::atomic<int> cards[kMostRanks];  // index plus one; 0: not joined yet
  Arrival arrivals[2][kMostRanks];
  Part parts[kPlaces][kMostRanks];
};

class Meeting {
 public:
  // False if the system cannot provide the memory.
  static bool make(abi::ncclUniqueId* id);
  // Null if the process that made the id is gone or belongs to another user.
  static Meeting* open(const abi::ncclUniqueId& id);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  Rendezvous* operator->() const { return memory_; }
  char* part(uint64_t place, int rank) const {
    return data_ + (place * kMostRanks + static_cast<uint64_t>(rank)) * kMostBytes;
  }

 private:
  Meeting(void* memory, char* data) : memory_(static_cast<Rendezvous*>(memory)), data_(data) {}

  Rendezvous* memory_;
  char* data_;
};

}  // namespace gvb::sim
