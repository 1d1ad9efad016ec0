// The cost of launching on the simulated card when several processes use it at the same time. bench/simulated-card.js
// runs eight of them, with the simulated libraries in LD_LIBRARY_PATH. Usage: simulated_launches COUNT   → one line of
// JSON: processor time in s, and the last tenth's cost relative to the first.
#include <dlfcn.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "driver/cuda_abi.h"

namespace {

template <class Function>
Function function(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const address = driver == nullptr ? nullptr : dlsym(driver, name);
  if (address != nullptr) return reinterpret_cast<Function>(address);
  std::fprintf(stderr, "%s: %s\n", name, dlerror());
  std::exit(1);
}

template <class Function, class... Arguments>
void call(const char* name, Arguments... arguments) {
  const int code = function<Function>(name)(arguments...);
  if (code == 0) return;
  std::fprintf(stderr, "%s: %d\n", name, code);
  std::exit(1);
}

constexpr const char* kPtx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry gvb_empty() { ret; }\n";

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gvb::abi;
  const int count = argc == 2 ? std::atoi(argv[1]) : 0;
  if (count < 10) return 2;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  call<CUresult (*)(unsigned)>("cuInit", 0U);
  call<CUresult (*)(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain", &context, 0);
  call<CUresult (*)(CUcontext)>("cuCtxSetCurrent", context);
  call<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData", &module, kPtx);
  call<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction", &kernel, module, "gvb_empty");
  using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              CUstream, void**, void**);
  const auto launch = function<Launch>("cuLaunchKernel");
  const int tenth = count / 10;
  int64_t first = 0, last = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t from = gvb::now_ns();
    if (launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) return 1;
    const int64_t took = gvb::now_ns() - from;
    if (i < tenth) first += took;
    if (i >= count - tenth) last += took;
  }
  call<CUresult (*)()>("cuCtxSynchronize");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"cpuSeconds\":%.4f,\"lastByFirst\":%.3f}\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
              static_cast<double>(last) / static_cast<double>(first));
  return 0;
}
