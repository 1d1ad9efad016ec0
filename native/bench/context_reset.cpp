#include "bench/context_reset.h"

#include "base/clock.h"
#include "bench/first_kernel.h"
#include "kernels/ptx.h"

namespace gvb {

namespace {

void enter_primary(const Cuda& cuda, abi::CUdevice device) {
  abi::CUcontext context = nullptr;
  GVB_CALL(cuda, "creating the primary context", cuDevicePrimaryCtxRetain, &context, device);
  GVB_CALL(cuda, "entering the primary context", cuCtxSetCurrent, context);
}

void run_first_kernel(const Cuda& cuda, ContextReset& out) {
  const Module module(cuda, gvb_ptx_base);
  FirstKernel first(cuda, module);
  first.allocate();
  first.launch();
  first.read();
  out.first_result_at_ns = now_ns();
  out.result_correct = first.correct();
}

}  // namespace

ContextReset reset_after_fault(const DeviceTarget& target, const CancelToken& token) {
  require_unconfined("a reset of the primary context destroys it");
  const Driver& driver = Driver::load(target.simulated_driver);
  const Cuda cuda = driver.cuda(target.path);
  driver.initialise(target.path);
  const abi::CUdevice device = find_device(driver, cuda, target.device);
  enter_primary(cuda, device);
  ContextReset out;
  out.fault = raise_fault(cuda, FaultKind::kOutOfBounds, token);
  out.reset_code = cuda.require(cuda.api.cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset_v2")(device);
  out.reset_name = cuda.error_name(out.reset_code);
  // Some drivers go on although the reset itself was refused.
  try {
    enter_primary(cuda, device);
    run_first_kernel(cuda, out);
  } catch (const CallFailure& failure) {
    out.failed = failure.what();
  }
  return out;
}

}  // namespace gvb
