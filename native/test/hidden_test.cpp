// Functions that a layer hides: what needs one says so, and nothing crashes, ends the process or stays behind.
#include <string>
#include <utility>

#include "bench/inspect.h"
#include "bench/launch_burst.h"
#include "bench/launch_latency.h"
#include "kernels/ptx.h"
#include "test/check.h"
#include "test/failure_of.h"

using namespace gvb;
using test::failure_of;

namespace {

// Hides a function of the session's driver, as a layer does, while it lives.
template <class Function>
class Hidden {
 public:
  Hidden(const CudaApi& api, Function CudaApi::*function)
      : place_(const_cast<CudaApi&>(api).*function), kept_(std::exchange(place_, nullptr)) {}
  ~Hidden() { place_ = kept_; }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  Function& place_;
  const Function kept_;
};

void test_hidden_clean_up_is_left_out(DeviceSession& session) {
  const CudaApi& api = session.cuda.api;
  const Hidden unload(api, &CudaApi::cuModuleUnload);
  const Hidden destroy(api, &CudaApi::cuStreamDestroy_v2);
  { const Module module(session.cuda, gvb_ptx_base); }
  LaunchRequest request;
  request.count = 2;
  measure_launches(session, request);
}

void test_a_hidden_look_up_leaves_nothing_pinned(DeviceSession& session) {
  static int pinned = 0;
  CudaApi functions = session.cuda.api;
  functions.cuMemHostGetDevicePointer_v2 = nullptr;
  functions.cuMemHostAlloc = [](void**, size_t, unsigned) -> abi::CUresult {
    ++pinned;
    return abi::CUDA_ERROR_OUT_OF_MEMORY;
  };
  const Cuda hiding(session.cuda, functions);
  CHECK(failure_of([&] { MappedMemory(hiding, 64); }).find("cuMemHostGetDevicePointer_v2") != std::string::npos);
  CHECK_EQUAL(pinned, 0);
}

void test_a_hidden_function_in_a_thread_is_a_failure(DeviceSession& session) {
  const Hidden launch(session.cuda.api, &CudaApi::cuLaunchKernelEx);
  BurstRequest request;
  request.call = BurstCall::kKernelEx;
  request.threads = 2;
  CHECK(failure_of([&] { measure_bursts(session, request); }).find("cuLaunchKernelEx") != std::string::npos);
}

void test_inspection_without_a_function(DeviceSession& session) {
  const SymbolTables& tables = session.driver.tables;
  const Inspection whole = inspect(session.driver);
  {
    const Hidden total(tables.of(SymbolPath::kRuntime), &CudaApi::cuDeviceTotalMem_v2);
    const Hidden name(tables.of(SymbolPath::kRuntime), &CudaApi::cuDeviceGetName);
    const Inspection seen = inspect(session.driver);
    CHECK(!seen.cuda && seen.devices.size() == 1 && seen.devices[0].name == whole.devices[0].name);
    CHECK(!seen.devices[0].visible_memory_bytes && seen.devices[0].memory_bytes == whole.devices[0].memory_bytes);
  }
  const Hidden uuid(tables.of(SymbolPath::kRuntime), &CudaApi::cuDeviceGetUuid_v2);
  const Hidden own(tables.reference_of(SymbolPath::kRuntime), &CudaApi::cuDeviceGetUuid_v2);
  const Inspection seen = inspect(session.driver);
  CHECK(seen.cuda && seen.cuda->call == "cuGetProcAddress of cuDeviceGetUuid_v2");
  CHECK(seen.driver_version == whole.driver_version && seen.cuda_version == whole.cuda_version);
}

}  // namespace

int main() {
  const CancelToken token;
  DeviceSession session(Driver::load(std::nullopt), DeviceTarget(), token);
  test_hidden_clean_up_is_left_out(session);
  test_a_hidden_look_up_leaves_nothing_pinned(session);
  test_a_hidden_function_in_a_thread_is_a_failure(session);
  test_inspection_without_a_function(session);
  return test::report("hidden_test");
}
