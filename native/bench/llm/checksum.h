// Shows whether two arms of a comparison computed the same: one number for all bits of a result and their places.
#pragma once

#include <cstdint>

#include "bench/device_session.h"

namespace gvb {

struct DeviceRange {
  abi::CUdeviceptr begin;
  uint64_t bytes;  // a multiple of four
};

// Computed on the device, after everything launched before on any stream.
uint64_t checksum_of(DeviceSession& session, const DeviceRange& range);

}  // namespace gvb
