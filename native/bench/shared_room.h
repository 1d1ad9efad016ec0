// Shared memory that blocks of a kernel can have.
#pragma once

#include "bench/device_session.h"

namespace gvb {

// What one block can have at most, and what each can have if two run on a multiprocessor.
struct SharedRoom {
  unsigned most, of_two;
};

SharedRoom shared_room(const DeviceSession& session);

}  // namespace gvb
