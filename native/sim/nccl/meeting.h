// Where the ranks of a communicator meet: memory of the process that made the unique id, which the others open through
// /proc, so that nothing is left behind when a rank is killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver/nccl_abi.h"

namespace gvb::sim {

constexpr int kMostRanks = 16;
constexpr size_t kMostBytes = size_t{64} << 20;  // of one rank's part of a collective
constexpr uint64_t kPlaces = 4;                  // of collectives whose results are not computed yet on every rank

// When a rank's work before a collective ends, and how long the collective takes there.
struct Arrival {
  std::atomic<uint64_t> collective;
  std::atomic<int64_t> end;
  std::atomic<double> nanoseconds;
};

// One rank's part of a collective, for the others to add.
struct Part {
  std::atomic<uint64_t> published;  // of which collective; they count from 1
  std::atomic<uint64_t> taken;      // by this rank, which has added all parts
};

struct Rendezvous {
  std::atomic<int> joined;
  std::atomic<int> cards[kMostRanks];  // plus one; 0: not there yet
  Arrival arrivals[2][kMostRanks];
  Part parts[kPlaces][kMostRanks];
};

class Meeting {
 public:
  // False where the system has no memory for it.
  static bool make(abi::ncclUniqueId* id);
  // Null where the process that made the id is gone or is not the same user's.
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
