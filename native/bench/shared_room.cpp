#include "bench/shared_room.h"

#include <algorithm>

namespace gvb {

SharedRoom shared_room(const DeviceSession& session) {
  const auto read = [&](abi::CUdevice_attribute which) {
    return static_cast<unsigned>(std::max(0, device_attribute(session.cuda, session.device, which).value_or(0)));
  };
  // Each block takes a part for the driver as well.
  const unsigned most = read(abi::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                 half = read(abi::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / 2,
                 reserved = read(abi::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return {most, half > reserved ? std::min(most, half - reserved) : 0};
}

}  // namespace gvb
