// How long launches take on the device: back-to-back batches between two events, long enough that the events'
// resolution and the first launch's latency do not matter, checked against the host's clock.
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
  ~LaunchTimer() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  abi::CUstream stream() const { return stream_.get(); }

  // How many launches make a batch of that length. Also warms them up.
  unsigned launches_of_batch(const BatchLength& length, const Launch& launch);

  LaunchBatch time(unsigned launches, const Launch& launch);

  // Throws kInvalidResult if in every batch the events report less time than the host saw: then a layer changes the
  // times between the host and the device. On a busy host every batch may have been interrupted; further uncounted
  // batches must then show that the earlier events were not too short.
  void check_events(const std::vector<LaunchBatch>& batches, const char* what, const Launch& launch);

 private:
  const Cuda& cuda_;
  const CancelToken& token_;
  const Stream stream_;
  const Event begin_, end_;
};

}  // namespace gvb
