#include "test/count_program.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>

#include "driver/cuda_abi.h"

using namespace gvb::abi;

extern "C" {
CUresult cuInit(unsigned);
CUresult cuDriverGetVersion(int*);
CUresult cuDeviceGetName(char*, int, CUdevice);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**);
}

namespace test {

namespace {

using Version = CUresult (*)(int*);
using GetProcAddress = CUresult (*)(const char*, void**, int, unsigned long long, CUdriverProcAddressQueryResult*);

bool call(Version function, int times) {
  for (int i = 0; i < times; ++i)
    if (int version = 0; function(&version) != CUDA_SUCCESS || version < 1000) return false;
  return true;
}

// All arguments arrive, and outputs come back.
bool linked() {
  char name[64] = "";
  const bool named = cuInit(0) == CUDA_SUCCESS && cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS && name[0];
  const bool refused = cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS;
  return named && refused && call(cuDriverGetVersion, 5);
}

Version looked_up(void* handle) { return reinterpret_cast<Version>(dlsym(handle, "cuDriverGetVersion")); }

bool by_dlsym() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const bool none = dlsym(driver, "cuNoSuchFunction") == nullptr && dlerror() != nullptr;
  return none && call(looked_up(driver), 7) && call(looked_up(RTLD_DEFAULT), 2) &&
         looked_up(driver) == looked_up(driver);
}

bool by_procaddress() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto get = reinterpret_cast<GetProcAddress>(dlsym(driver, "cuGetProcAddress_v2"));
  void* found = nullptr;
  if (get("cuDriverGetVersion", &found, 12000, 0, nullptr) != CUDA_SUCCESS) return false;
  if (!call(reinterpret_cast<Version>(found), 11)) return false;
  // A base name means the newest ABI that the version allows.
  if (get("cuMemAlloc", &found, 12000, 0, nullptr) != CUDA_SUCCESS) return false;
  CUdeviceptr block = 0;
  for (int i = 0; i < 3; ++i) reinterpret_cast<CUresult (*)(CUdeviceptr*, size_t)>(found)(&block, 1);
  // It returns itself, and functions found through it are counted too.
  if (get("cuGetProcAddress", &found, 12000, 0, nullptr) != CUDA_SUCCESS) return false;
  get = reinterpret_cast<GetProcAddress>(found);
  if (get("cuDriverGetVersion", &found, 12000, 0, nullptr) != CUDA_SUCCESS) return false;
  return call(reinterpret_cast<Version>(found), 2) &&
         get("cuNoSuchFunction", &found, 12000, 0, nullptr) != CUDA_SUCCESS;
}

bool in_threads() {
  std::thread other([] { call(cuDriverGetVersion, 100'000); });
  const bool made = call(cuDriverGetVersion, 100'000);
  other.join();
  return made;
}

bool forked() {
  if (!call(cuDriverGetVersion, 3)) return false;
  const pid_t child = fork();
  if (child == 0) _exit(call(cuDriverGetVersion, 4) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0 && call(cuDriverGetVersion, 5);
}

bool replaced() {
  if (!call(cuDriverGetVersion, 2)) return false;
  execl("/proc/self/exe", "count_test", "linked", nullptr);
  return false;
}

bool killed() {
  if (!call(cuDriverGetVersion, 6)) return false;
  return std::raise(SIGKILL) == 0;
}

// Phases for a reader of standard output; each phase starts when a line arrives on standard input.
bool marked() {
  const auto wait = [] {
    for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
  };
  const auto mark = [&](const char* text) {
    std::puts(text);
    std::fflush(stdout);
    wait();
  };
  if (!call(cuDriverGetVersion, 10)) return false;
  for (int turn = 0; turn < 2; ++turn) {
    mark("gvb:begin decode");
    if (!call(cuDriverGetVersion, 20)) return false;
    mark("gvb:end 4");
    if (!call(cuDriverGetVersion, 1)) return false;
  }
  return true;
}

// As a framework does: functions from cuGetProcAddress, with a context, step by step.
bool in_steps() {
  constexpr int kSteps = 40;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(driver, "cuGetProcAddress_v2"));
  const auto find = [&](const char* name, auto* function) {
    void* found = nullptr;
    get(name, &found, 12000, 0, nullptr);
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(found);
  };
  CUresult (*init)(unsigned);
  CUresult (*retain)(CUcontext*, CUdevice);
  CUresult (*set)(CUcontext);
  CUresult (*current)(CUcontext*);
  CUresult (*memory)(size_t*, size_t*);
  find("cuInit", &init);
  find("cuDevicePrimaryCtxRetain", &retain);
  find("cuCtxSetCurrent", &set);
  find("cuCtxGetCurrent", &current);
  find("cuMemGetInfo", &memory);
  CUcontext context = nullptr;
  size_t free = 0, all = 0;
  bool good = init(0) == CUDA_SUCCESS && retain(&context, 0) == CUDA_SUCCESS && set(context) == CUDA_SUCCESS;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 6; ++i) good = good && current(&context) == CUDA_SUCCESS;
    for (int i = 0; i < 2; ++i) good = good && memory(&free, &all) == CUDA_SUCCESS;
  }
  return good;
}

}  // namespace

int make_calls(const char* way) {
  const struct {
    const char* name;
    bool (*make)();
  } ways[] = {{"linked", linked},
              {"dlsym", by_dlsym},
              {"procaddress", by_procaddress},
              {"threads", in_threads},
              {"fork", forked},
              {"exec", replaced},
              {"kill", killed},
              {"marked", marked},
              {"steps", in_steps},
              {"none", [] { return true; }},
              {"fail", [] {
                 linked();
                 return false;
               }}};
  for (const auto& each : ways)
    if (std::strcmp(each.name, way) == 0) return each.make() ? 0 : 3;
  std::fprintf(stderr, "Expected a way to call but received '%s'.\n", way);
  return 2;
}

}  // namespace test
