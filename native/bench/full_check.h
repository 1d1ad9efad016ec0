// Proves that a kernel fills the card. full_blocks asks the driver how many blocks do; whether nothing else could start
// is seen with a small kernel of the same process in another stream, which is launched while all blocks run:
//
// - it begins while all of them run: something could still start, and the card was not full;
// - it begins only when the first of them can have ended, and the kernel ran on for a while after the launch: full.
//
// All three times are the device's own. Blocks of one wave begin within microseconds of each other; the tolerance is a
// tenth of their length, and a launch that came too early or too late proves nothing.
#pragma once

#include <optional>
#include <vector>

#include "bench/device_session.h"
#include "bench/occupied.h"

namespace gvb {

enum class Fullness { kUnknown, kRoom, kFull };

// `small`: the first instruction of the small kernel. `filling`: a gvb_occupy whose blocks spin for `hold_ns` each.
// `in_time`: the filling kernel still ran some time after the launch of the small one.
Fullness fullness_of(const Occupied& filling, uint64_t hold_ns, uint64_t small, bool in_time);

// Why a row of a card that is not full has no number.
constexpr const char* kRoomLeft =
    "a small kernel began while all blocks of a kernel that should fill the card ran: the driver said that fewer "
    "blocks fit than do";

// The kernels to check.
struct Filling {
  uint64_t hold_ns;  // of a block
  int priority = 0;  // of their streams
};

// Several tries, of which one is enough.
class FullCheck {
 public:
  FullCheck(DeviceSession& session, const Filling& filling);
  ~FullCheck() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  FullCheck(const FullCheck&) = delete;
  FullCheck& operator=(const FullCheck&) = delete;

  // Where the next filling kernel writes its stamps.
  abi::CUdeviceptr stamps_of_next();
  // Launches the small kernel beside the filling one that `finished` follows, the `number`th (from 0) that got stamps.
  // Takes a twentieth of the filling kernel. Does nothing once there were enough tries.
  void look(size_t number, const Event& finished);
  bool wants() const { return tries_.size() < kTries; }

  // Call once the filling kernels are over. kRoom if any try says so.
  Fullness result();

 private:
  void launch_small(size_t place);

  static constexpr size_t kTries = 3, kKernels = 8;
  struct Try {
    size_t number;
    bool in_time;
  };

  const Cuda& cuda_;
  const uint64_t hold_ns_;
  const Stream stream_;
  const abi::CUfunction small_;
  const DeviceMemory stamps_;  // of the first kKernels, then of the others
  const MappedMemory begun_;   // a word for each try
  size_t stamped_ = 0;
  std::vector<Try> tries_;
};

// True if the card was full, false if not; nullopt if that could not be seen.
std::optional<bool> card_full(Fullness fullness);

Stream make_stream_of_priority(const Cuda& cuda, int priority);

}  // namespace gvb
