// The functions that a program compiled for per-thread default streams uses: cuGetProcAddress returns them to callers
// that ask for them. A layer may return its own, the driver's, or those of the legacy stream.
#pragma once

#include "driver/driver.h"

namespace gvb {

class ThreadStreamCalls {
 public:
  ThreadStreamCalls(const Driver& driver, const Cuda& cuda) : functions_(cuda.api), calls_(cuda, functions_) {
    // A program gets cuGetProcAddress itself through dlsym.
    const SymbolPath asked = cuda.path == SymbolPath::kBare ? SymbolPath::kBare : SymbolPath::kDlsym;
    const auto ask = cuda.require(driver.tables.of(asked).cuGetProcAddress_v2, "cuGetProcAddress_v2");
    look_up(ask, "cuLaunchKernel", functions_.cuLaunchKernel);
    look_up(ask, "cuGraphLaunch", functions_.cuGraphLaunch);
    look_up(ask, "cuEventRecord", functions_.cuEventRecord);
    look_up(ask, "cuStreamSynchronize", functions_.cuStreamSynchronize);
  }
  ThreadStreamCalls(const ThreadStreamCalls&) = delete;
  ThreadStreamCalls& operator=(const ThreadStreamCalls&) = delete;

  // Their stream 0 is the thread's own.
  const Cuda& calls() const { return calls_; }

 private:
  // The first version that has all of them.
  static constexpr int kVersion = 12000;

  template <class Ask, class Function>
  static void look_up(Ask ask, const char* name, Function& function) {
    void* found = nullptr;
    abi::CUdriverProcAddressQueryResult result{};
    const abi::CUresult code = ask(name, &found, kVersion, abi::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result);
    if (code != abi::CUDA_SUCCESS || !found)
      throw Failure(FailureKind::kFunctionMissing,
                    std::string("cuGetProcAddress returns no ") + name + " for per-thread default streams.");
    function = reinterpret_cast<Function>(found);
  }

  CudaApi functions_;
  const Cuda calls_;
};

}  // namespace gvb
