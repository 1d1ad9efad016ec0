// The communicator of a session that is one of several ranks; each rank is a process with a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/device_session.h"
#include "driver/nccl.h"

namespace gvb {

struct CommunicatorId {
  std::string unsupported;  // why there is no NCCL; the other fields are then empty
  std::string library;      // path of the library
  std::string version;
  std::string id;       // hexadecimal, for every rank's JoinRequest
  std::string failure;  // NCCL's error; empty: none
};

struct JoinRequest {
  std::string id;
  unsigned ranks = 0, rank = 0;
};

struct Joined {
  std::string failure;  // NCCL's error; empty: none
};

// Creates the id of a new communicator. The process stays reachable for the other ranks until they have joined.
CommunicatorId make_communicator_id(DeviceSession& session);

// Creates the communicator in the session and replaces any existing one. Returns once all ranks have joined, which may
// never happen: the caller needs a deadline.
Joined join_ranks(DeviceSession& session, const JoinRequest& request);

// Ends the communicator; all ranks must call it.
Joined leave_ranks(DeviceSession& session);

// Kept in the session as kept<Ranks>().
class Ranks {
 public:
  explicit Ranks(const DeviceSession&) {}

  struct Numbers {
    abi::CUdeviceptr from, to;
    uint64_t count;
    abi::ncclDataType_t type;
  };
  // Each is ordered with the stream's work and returns NCCL's error; empty: none.
  // Sums over all ranks.
  std::string all_reduce(const Numbers& what, abi::CUstream stream) const;
  // The numbers of every rank, in the order of the ranks. `count`: of each rank.
  std::string all_gather(const Numbers& what, abi::CUstream stream) const;
  // Those of the root.
  std::string broadcast(const Numbers& what, unsigned root, abi::CUstream stream) const;
  // NCCL's asynchronous error since the last call.
  std::string asynchronous_failure() const;

  std::string join(const Nccl& nccl, const JoinRequest& request);
  std::string leave();

 private:
  const Nccl* nccl_ = nullptr;
  abi::ncclComm_t communicator_ = nullptr;
};

}  // namespace gvb
