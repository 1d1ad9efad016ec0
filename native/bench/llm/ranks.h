// The communicator of a session that is one of several ranks, a process and a GPU each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/device_session.h"
#include "driver/nccl.h"

namespace gvb {

struct CommunicatorId {
  std::string unsupported;  // why there is no NCCL; then nothing follows
  std::string library;      // the file
  std::string version;
  std::string id;       // in hexadecimal, for every rank's JoinRequest
  std::string failure;  // of NCCL; empty: none
};

struct JoinRequest {
  std::string id;
  unsigned ranks = 0, rank = 0;
};

struct Joined {
  std::string failure;  // of NCCL; empty: none
};

// Of a new communicator. The process stays reachable for the others until they have joined.
CommunicatorId make_communicator_id(DeviceSession& session);

// Keeps the communicator in the session, in place of one that was there. Returns when all ranks have joined, which may
// be never: the caller needs a deadline.
Joined join_ranks(DeviceSession& session, const JoinRequest& request);

// Ends it; of all ranks.
Joined leave_ranks(DeviceSession& session);

// In the session, as kept<Ranks>().
class Ranks {
 public:
  explicit Ranks(const DeviceSession&) {}

  struct Reduction {
    abi::CUdeviceptr from, to;
    uint64_t count;  // of bf16 numbers
  };
  // Sums of all ranks, in order with the stream's work. The failure of NCCL; empty: none.
  std::string reduce(const Reduction& what, abi::CUstream stream) const;
  // What NCCL says happened since the last call.
  std::string asynchronous_failure() const;

  std::string join(const Nccl& nccl, const JoinRequest& request);
  std::string leave();

 private:
  const Nccl* nccl_ = nullptr;
  abi::ncclComm_t communicator_ = nullptr;
};

}  // namespace gvb
