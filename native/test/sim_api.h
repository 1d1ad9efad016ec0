// The two simulated libraries, found as any program finds them, plus what every test needs of a device.
#pragma once

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "driver/cuda_abi.h"
#include "driver/nvml_abi.h"

namespace test {

using namespace gvb::abi;

inline void* symbol(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  void* address = handle == nullptr ? nullptr : dlsym(handle, name);
  if (address == nullptr) {
    std::fprintf(stderr, "%s: %s: %s\n", library, name, dlerror());
    std::exit(2);
  }
  return address;
}

// Null where GVB_SIM asks for an older driver, which lacks what is newer.
inline void* listed(const char* library, const char* name) {
  const char* settings = std::getenv("GVB_SIM");
  if (settings == nullptr || std::strstr(settings, "driver") == nullptr) return symbol(library, name);
  return dlsym(dlopen(library, RTLD_NOW), name);
}

#define GVB_CUDA(name, base, version, params) using name##_t = CUresult(*) params;
#include "driver/cuda_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA
#define GVB_NVML(name, version, params) using name##_t = nvmlReturn_t(*) params;
#include "driver/nvml_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_NVML

#define GVB_CUDA(name, base, version, params) \
  inline const name##_t name = reinterpret_cast<name##_t>(listed("libcuda.so.1", #name));
#include "driver/cuda_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA
#define GVB_NVML(name, version, params) \
  inline const name##_t name = reinterpret_cast<name##_t>(listed("libnvidia-ml.so.1", #name));
#include "driver/nvml_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_NVML

inline const auto gvbSimError = reinterpret_cast<const char* (*)()>(symbol("libcuda.so.1", "gvbSimError"));

constexpr const char* kPtx =
    "// comment\n.version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry gvb_empty() { ret; }\n.visible .entry gvb_stamp(.param .u64 a) { ret; }\n"
    ".visible .entry gvb_clock_echo(.param .u64 a) { ret; }\n.visible .entry gvb_timer_steps(.param .u64 a) { ret; }\n"
    ".visible .entry gvb_mix(.param .u64 a) { ret; }\n.visible .entry gvb_occupy(.param .u64 a) { ret; }\n"
    ".visible .entry gvb_count(.param .u64 a) { ret; }\n"
    ".visible .entry gvb_gemm(.param .u64 a) { ret; }\n"
    ".visible .entry gvb_out_of_bounds() { ret; }\n.visible .entry gvb_misaligned() { ret; }\n"
    ".visible .entry gvb_trap() { ret; }\n.visible .entry gvb_assert() { ret; }\n"
    ".visible .entry gvb_endless() { ret; }\n.visible .entry foreign() { ret; }\n";

inline long long raw_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// The device clock as the default settings define it.
constexpr double kTimerStepNs = 32;

// The time from a moment of the host to a stamp of the device. In whole nanoseconds, because a double of that size has
// steps of 256.
inline double since_host(unsigned long long stamp, long long raw) {
  return double(static_cast<long long>(stamp - 1700000000000000000ULL) - raw - llround(5e-6 * double(raw)));
}

inline CUfunction kernel(const char* name) {
  static CUmodule module = nullptr;
  if (module == nullptr && cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr) != CUDA_SUCCESS) std::abort();
  CUfunction function = nullptr;
  if (cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS) std::abort();
  return function;
}

inline CUresult launch(CUfunction function, CUstream stream, void** arguments) {
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

inline CUcontext enter_primary() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS)
    std::abort();
  return context;
}

}  // namespace test
