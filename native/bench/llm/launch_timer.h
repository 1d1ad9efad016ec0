// How long launches take on the device: batches of them back to back between two events, long enough that the events'
// resolution and the first launch's latency do not count, and a look at the host's clock beside.
#pragma once

#include <functional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct BatchLength {
  unsigned least_launches = 20;
  uint64_t least_ns = 50'000'000;
};

struct LaunchBatch {
  unsigned launches;
  double device_ns;  // between the events
  double host_ns;    // from before the first launch until the host knew that the last one was over

  double launch_ns() const { return device_ns / launches; }
};

class LaunchTimer {
 public:
  using Launch = std::function<void(abi::CUstream)>;

  explicit LaunchTimer(const DeviceSession& session);
  ~LaunchTimer() { cuda_.api.cuStreamSynchronize(stream_.get()); }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  abi::CUstream stream() const { return stream_.get(); }

  // How many launches make a batch that long. They are warm after it.
  unsigned launches_of_batch(const BatchLength& length, const Launch& launch);

  LaunchBatch time(unsigned launches, const Launch& launch);

  // Throws kInvalidResult where events say less than the host saw, in every batch: something between the host and the
  // device tells other times than the device's. Every batch may have been interrupted on a busy host: then more of
  // them, which do not count, have to show that the events of those before were not too short.
  void check_events(const std::vector<LaunchBatch>& batches, const char* what, const Launch& launch);

 private:
  const Cuda& cuda_;
  const CancelToken& token_;
  const Stream stream_;
  const Event begin_, end_;
};

}  // namespace gvb
