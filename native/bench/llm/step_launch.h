// Launches of kernels that follow each other in a stream, each beginning (if the device supports it) before the
// previous one has ended (programmatic dependent launch): its blocks come as those of the other go, and it waits itself
// for what that one writes.
#pragma once

#include "bench/device_session.h"

namespace gvb {

class StepLaunch {
 public:
  explicit StepLaunch(const DeviceSession& session);

  // Else each kernel begins after the one ahead of it: the device, the driver or a layer has no other way, or refused
  // the first launch that asked for it.
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
