// A part of the device's multiprocessors of known size, made by the driver itself and by no layer: a green context. Its
// streams run kernels of the session's context on these multiprocessors alone; memory and modules are the session's.
#pragma once

#include "bench/device_session.h"
#include "bench/green_context.h"

namespace gvb {

class Partition {
 public:
  // Makes a partition of as many multiprocessors as the driver makes of `wanted`. Throws kFunctionMissing where it has
  // no green contexts.
  Partition(const DeviceSession& session, unsigned wanted);

  Stream make_stream() const;
  unsigned multiprocessors() const { return multiprocessors_; }  // by the green context's own description

 private:
  const Cuda& cuda_;
  const GreenContext green_;
  const unsigned multiprocessors_;
};

}  // namespace gvb
