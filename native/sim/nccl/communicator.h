// One rank of a simulated communicator.
#pragma once

#include <memory>

#include "sim/nccl/meeting.h"
#include "sim/work/collective.h"

namespace gvb::sim {

// The simulated driver in this process; null if another driver is loaded.
struct SimulatedDriver {
  JoinCollectives join;
  EndOfStream end_of_stream;
  SubmitCollective submit;
};
const SimulatedDriver* simulated_driver();

enum class Kind { kAllReduce, kAllGather, kBroadcast };

struct Collective {
  Kind kind;
  const void* from;
  void* to;
  size_t count;  // of what a rank sends
  abi::ncclDataType_t type;
  int root = 0;  // of a broadcast
};

class Communicator {
 public:
  Communicator(std::unique_ptr<Meeting> meeting, int ranks, int rank)
      : meeting_(std::move(meeting)), ranks_(ranks), rank_(rank) {}

  // Waits until all ranks have joined; ncclInvalidUsage if two of them use one card.
  abi::ncclResult_t join();
  abi::ncclResult_t collective(const Collective& what, abi::CUstream stream);
  int ranks() const { return ranks_; }
  // An error that occurred after a call had returned.
  abi::ncclResult_t error() const { return error_.load(); }

 private:
  struct Pending;

  size_t sent_bytes(const Collective& what) const;  // by this rank
  size_t result_bytes(const Collective& what) const;
  double nanoseconds(const Collective& what) const;
  bool meet(int64_t* start, double* nanoseconds);
  bool publish(const Collective& what, uint64_t number);
  bool others_published(uint64_t number);
  void compute(const Collective& what, uint64_t number);
  void add_up(const Collective& what, uint64_t place) const;

  const std::unique_ptr<Meeting> meeting_;
  const int ranks_, rank_;
  uint64_t collectives_ = 0;
  std::atomic<abi::ncclResult_t> error_{abi::ncclSuccess};
};

size_t bytes_of(abi::ncclDataType_t type);  // 0: not simulated

}  // namespace gvb::sim
