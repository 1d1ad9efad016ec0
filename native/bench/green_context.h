// Parts of a device's multiprocessors that the driver itself sets apart: green contexts.
#pragma once

#include <optional>

#include "bench/guards.h"

namespace gvb {

// Drivers of a later ABI may write more than the version that was asked for has.
struct SmResource {
  abi::CUdevResource value{};
  unsigned char spare[112]{};
};

// Splits off as many multiprocessors as the driver makes of `wanted`: it rounds up. Throws kFunctionMissing where it
// has no green contexts.
SmResource part_from(const Cuda& cuda, abi::CUdevice device, unsigned wanted);
// Splits off the most that the driver can of up to `most` multiprocessors, or the least that it can.
SmResource part_within(const Cuda& cuda, abi::CUdevice device, unsigned most);

// On the primary context, which it retains.
class GreenContext {
 public:
  GreenContext(const Cuda& cuda, abi::CUdevice device, SmResource part);

  abi::CUgreenCtx get() const { return context_.get(); }
  unsigned multiprocessors() const;  // by its own description
  // A context to enter. It can be the current one of one thread at a time.
  abi::CUcontext as_context() const;

 private:
  const Cuda& cuda_;
  const Owned<abi::CUgreenCtx, &CudaApi::cuGreenCtxDestroy> context_;
};

// From now on every session of this process is in a green context of up to so many multiprocessors; 0: on the whole
// device.
void confine_sessions(unsigned multiprocessors);
bool sessions_are_confined();
// Throws kFunctionMissing in a confined process, in which `what` is not possible.
void require_unconfined(const char* what);

// Enters a green context if the process is confined, and returns to the primary one at its end.
class Confinement {
 public:
  Confinement(const Cuda& cuda, abi::CUdevice device, abi::CUcontext primary);
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  abi::CUcontext current() const { return current_; }
  // The size of the green context; nullopt: there is none.
  std::optional<unsigned> multiprocessors() const { return multiprocessors_; }

 private:
  const Cuda& cuda_;
  const abi::CUcontext primary_;
  std::optional<GreenContext> green_;
  abi::CUcontext current_;
  std::optional<unsigned> multiprocessors_;
};

}  // namespace gvb
