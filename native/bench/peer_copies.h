// How fast data gets from the session's GPU to another one and back (NCCL-003), by the device's own events: CUDA driver
// API, sections Peer Context Memory Access and Unified Addressing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct PeerRequest {
  std::string peer;  // UUID
};

// nullopt: the driver does not report it.
struct PeerAccess {
  bool can_access = false;
  std::optional<int> performance_rank, native_atomics;
};

enum class PeerWay {
  kCopy,   // cuMemcpyPeerAsync to the peer
  kBoth,   // one in each direction at the same time, on two streams
  kLoads,  // a kernel of this GPU reads the peer's memory
};

struct PeerCopiesRequest {
  std::string peer;
  PeerWay way = PeerWay::kCopy;
  size_t bytes = 0;  // of a copy, in whole words
  unsigned count = 0, warmup = 0;
  uint64_t seed = 0;
};

struct PeerCopies {
  std::vector<double> device_ns;  // of each sample; every word of each was verified
};

PeerAccess read_peer_access(DeviceSession& session, const PeerRequest& request);

// Throws kInvalidResult where what was copied is not there. `kLoads` needs access to the peer; copies without it go
// through the host.
PeerCopies measure_peer_copies(DeviceSession& session, const PeerCopiesRequest& request);

// Memory of this process that another one copies to.
struct OfferRequest {
  size_t bytes = 0;
};
struct OfferedMemory {
  std::string handle;  // of cuIpcGetMemHandle
};
// Replaces what was offered before; nothing is offered any more after a request for 0 bytes.
OfferedMemory offer_memory(DeviceSession& session, const OfferRequest& request);

struct OfferedCopiesRequest {
  std::string handle;  // of another process, on another GPU
  size_t bytes = 0;
  unsigned count = 0, warmup = 0;
  uint64_t seed = 0;
};
struct OfferedCopies {
  std::vector<double> device_ns;
  uint64_t last_seed = 0;  // of what the last copy left there
};
OfferedCopies copy_to_offered(DeviceSession& session, const OfferedCopiesRequest& request);

struct OfferedCheckRequest {
  uint64_t seed = 0;
};
struct OfferedCheck {
  uint64_t words = 0, wrong = 0;
};
// What other processes left in the offered memory, by its own GPU.
OfferedCheck check_offered(DeviceSession& session, const OfferedCheckRequest& request);

}  // namespace gvb
