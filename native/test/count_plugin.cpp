// A library that is linked with the driver, as a framework's is. Loaded by native/test/count_alone.cpp.
#include <dlfcn.h>

#include <thread>

#include "driver/cuda_abi.h"

using namespace gvb::abi;

extern "C" {
CUresult cuDriverGetVersion(int*);

// Calls the driver in every way that takes no lock of the loader: from another thread, on which the constructor waits.
__attribute__((constructor)) static void begin() {
  int version = 0;
  CUdriverProcAddressQueryResult* const no_status = nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  using GetProcAddress = CUresult (*)(const char*, void**, int, unsigned long long, CUdriverProcAddressQueryResult*);
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(driver, "cuGetProcAddress_v2"));
  cuDriverGetVersion(&version);
  std::thread([&] {
    void* found = nullptr;
    cuDriverGetVersion(&version);
    get("cuDriverGetVersion", &found, 12000, 0, no_status);
    reinterpret_cast<CUresult (*)(int*)>(found)(&version);
  }).join();
}

__attribute__((visibility("default"))) void* found_by_plugin() { return dlsym(RTLD_DEFAULT, "cuDriverGetVersion"); }
}
