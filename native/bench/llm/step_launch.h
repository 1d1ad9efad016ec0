// Launches of dependent kernels in a stream. If the device supports it, each begins before the previous one has ended
// (programmatic dependent launch): its blocks start as those of the other finish, and the kernel itself waits for what
// that one writes.
#pragma once

#include "bench/device_session.h"

namespace gvb {

class StepLaunch {
 public:
  explicit StepLaunch(const DeviceSession& session);

  // If false, each kernel begins after the previous one: the device, the driver or a layer does not support overlap, or
  // refused the first launch that asked for it.
  bool overlaps() const { return overlaps_; }
  // Whether the device runs code for sm_90.
  bool hopper() const { return hopper_; }

  struct Grid {
    unsigned x, y, z, threads, shared_bytes;
  };
  void operator()(abi::CUstream stream, abi::CUfunction kernel, const Grid& grid, void** parameters) const;

 private:
  const Cuda& cuda_;
  bool hopper_;
  mutable bool overlaps_;
};

}  // namespace gvb
