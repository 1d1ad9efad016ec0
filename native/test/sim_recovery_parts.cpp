// A card that needs time after a fault before a context can be opened, also where nobody has used it meanwhile.
#include "base/clock.h"
#include "sim_parts.h"

namespace test {
namespace {

constexpr int64_t kRecoveryNs = 200'000'000;

int64_t ns_until_a_context(int64_t since) {
  CUcontext context = nullptr;
  while (cuDevicePrimaryCtxRetain(&context, 0) == CUDA_ERROR_SYSTEM_NOT_READY) {
  }
  CHECK(context != nullptr);
  return gvb::now_ns() - since;
}

}  // namespace

void fails() {
  enter_primary();
  CUdeviceptr no_stamp = 0;
  void* arguments[] = {&no_stamp};
  CHECK_EQUAL(launch(kernel("gvb_out_of_bounds"), nullptr, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

void recovering() {
  const int64_t began = gvb::now_ns();
  CHECK_EQUAL(run_part("fails", kRecovers, own_region()), 0);
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK(ns_until_a_context(began) >= kRecoveryNs);
}

// Also in the process that failed, whose context can be reset meanwhile.
void recovering_refused() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const int64_t began = gvb::now_ns();
  fails();
  CHECK_EQUAL(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  const CUresult at_once = cuDevicePrimaryCtxRetain(&context, 0);
  CHECK(at_once == CUDA_ERROR_SYSTEM_NOT_READY || gvb::now_ns() - began >= kRecoveryNs);
  CHECK(ns_until_a_context(began) >= kRecoveryNs);
}

}  // namespace test
