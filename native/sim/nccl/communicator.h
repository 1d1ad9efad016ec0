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

struct AllReduce {
  const void* from;
  void* to;
  size_t count;
  abi::ncclDataType_t type;
};

class Communicator {
 public:
  Communicator(std::unique_ptr<Meeting> meeting, int ranks, int rank)
      : meeting_(std::move(meeting)), ranks_(ranks), rank_(rank) {}

  // Waits until all ranks have joined; ncclInvalidUsage if two of them use one card.
  abi::ncclResult_t join();
  abi::ncclResult_t all_reduce(const AllReduce& what, abi::CUstream stream);
  // An error that occurred after a call had returned.
  abi::ncclResult_t error() const { return error_.load(); }

 private:
  struct Sum;

  bool meet(int64_t* start, double* nanoseconds);
  void add_up(const AllReduce& what, uint64_t collective);
  bool publish(const AllReduce& what, uint64_t collective);

  const std::unique_ptr<Meeting> meeting_;
  const int ranks_, rank_;
  uint64_t collectives_ = 0;
  std::atomic<abi::ncclResult_t> error_{abi::ncclSuccess};
};

size_t bytes_of(abi::ncclDataType_t type);  // 0: not simulated

}  // namespace gvb::sim
