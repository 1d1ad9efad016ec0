// A hand-written probe, independent of the addon: linked with -lcuda and the real cuda.h, it answers on a real GPU
//   1. the step of %globaltimer and the residual, drift and negatives of its mapping to host time;
//   2. the launch latency (submit, call -> start, round trip) that OH-001 must agree with within 5 %;
//   3. what a process sees of itself (PID, NSpid, NVML's list before and after a context, HAMi-core's pidfound).
// Build: nvcc -O2 -o probe probe.cpp -lcuda -ldl    Run: ./probe base.ptx [launches]
#include <cuda.h>
#include <dlfcn.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

static void check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  std::fprintf(stderr, "%s: %s (%d)\n", what, name ? name : "?", static_cast<int>(code));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

static int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void spin(int64_t ns) {
  for (const int64_t end = now() + ns; now() < end;) {
  }
}

template <class T>
static double quantile(std::vector<T> v, double q) {
  std::sort(v.begin(), v.end());
  return static_cast<double>(v[static_cast<size_t>(q * static_cast<double>(v.size() - 1))]);
}

// A core of a shared host may be slow for seconds, so the probe moves to the next one after twenty launches.
static void nextCore() {
  static cpu_set_t all;
  static int core = -1;
  static const int known = sched_getaffinity(0, sizeof all, &all);
  if (known != 0) return;
  do core = (core + 1) % CPU_SETSIZE;
  while (!CPU_ISSET(core, &all));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void nvmlProcesses(const char* when) {
  static void* lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!lib) return;
  struct Info {
    unsigned pid;
    unsigned long long used;
    unsigned gi, ci;
  } list[64];
  auto init = reinterpret_cast<int (*)()>(dlsym(lib, "nvmlInit_v2"));
  auto handle = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(lib, "nvmlDeviceGetHandleByIndex_v2"));
  auto running =
      reinterpret_cast<int (*)(void*, unsigned*, Info*)>(dlsym(lib, "nvmlDeviceGetComputeRunningProcesses_v3"));
  void* device = nullptr;
  unsigned count = 64;
  const int a = init(), b = handle(0, &device), c = running(device, &count, list);
  std::printf("nvml processes %s: codes %d %d %d, %u:", when, a, b, c, count);
  for (unsigned i = 0; i < count && c == 0; ++i) std::printf(" %u (%llu MiB)", list[i].pid, list[i].used >> 20);
  std::printf("\n");
}

struct Exchange {
  int64_t host, device, bracket;
};

struct Echo {
  CUstream stream;
  CUfunction kernel;
  volatile unsigned* request;
  volatile unsigned long long* replies;
  CUdeviceptr requestDevice, repliesDevice;

  std::vector<Exchange> run(unsigned exchanges) {
    *request = 0;
    for (unsigned i = 0; i < exchanges; ++i) replies[i] = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    unsigned long long patience = 100000000;
    void* params[] = {&requestDevice, &repliesDevice, &exchanges, &patience};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    spin(50000);
    std::vector<Exchange> out;
    for (unsigned i = 1; i <= exchanges; ++i) {
      const int64_t a = now();
      *request = i;
      while (replies[i - 1] == 0) {
      }
      const int64_t b = now();
      out.push_back({a + (b - a) / 2, static_cast<int64_t>(replies[i - 1]), b - a});
    }
    CHECK(cuStreamSynchronize(stream));
    return out;
  }
};

static std::vector<Exchange> tightest(std::vector<Exchange> v, size_t n) {
  std::sort(v.begin(), v.end(), [](const Exchange& a, const Exchange& b) { return a.bracket < b.bracket; });
  v.resize(std::min(n, v.size()));
  return v;
}

int main(int argc, char** argv) {
  const int launches = argc > 2 ? std::atoi(argv[2]) : 2000;
  std::ifstream file(argv[1]);
  std::stringstream ptx;
  ptx << file.rdbuf();

  std::ifstream status("/proc/self/status");
  std::printf("pid %d", getpid());
  for (std::string line; std::getline(status, line);)
    if (line.rfind("NSpid", 0) == 0) std::printf("  %s", line.c_str());
  std::printf("\n");
  nvmlProcesses("before cuInit");

  int64_t t = now();
  CHECK(cuInit(0));
  std::printf("cuInit %.2f ms\n", (now() - t) / 1e6);
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext context;
  CHECK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_SPIN));
  t = now();
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  std::printf("primary context %.2f ms\n", (now() - t) / 1e6);
  nvmlProcesses("with a context");
  if (auto* found = static_cast<int*>(dlsym(RTLD_DEFAULT, "pidfound"))) std::printf("pidfound %d\n", *found);
  size_t freeBytes, totalBytes;
  CHECK(cuMemGetInfo(&freeBytes, &totalBytes));
  std::printf("memory free %zu MiB total %zu MiB\n", freeBytes >> 20, totalBytes >> 20);

  CUmodule module;
  CHECK(cuModuleLoadDataEx(&module, ptx.str().c_str(), 0, nullptr, nullptr));
  CUfunction stamp, echoKernel, steps, empty;
  CHECK(cuModuleGetFunction(&stamp, module, "gvb_stamp"));
  CHECK(cuModuleGetFunction(&echoKernel, module, "gvb_clock_echo"));
  CHECK(cuModuleGetFunction(&steps, module, "gvb_timer_steps"));
  CHECK(cuModuleGetFunction(&empty, module, "gvb_empty"));
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* page;
  CHECK(cuMemHostAlloc(&page, 65536, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr pageDevice;
  CHECK(cuMemHostGetDevicePointer(&pageDevice, page, 0));

  unsigned stepCount = 2000;
  void* stepParams[] = {&pageDevice, &stepCount};
  CHECK(cuLaunchKernel(steps, 1, 1, 1, 1, 1, 1, 0, stream, stepParams, nullptr));
  CHECK(cuStreamSynchronize(stream));
  auto* stamps = static_cast<unsigned long long*>(page);
  std::vector<unsigned long long> gaps;
  for (unsigned i = 1; i < stepCount; ++i) gaps.push_back(stamps[i] - stamps[i - 1]);
  std::printf("globaltimer step: min %.0f median %.0f p99 %.0f ns\n", quantile(gaps, 0), quantile(gaps, 0.5),
              quantile(gaps, 0.99));

  Echo echo{stream,
            echoKernel,
            reinterpret_cast<volatile unsigned*>(page),
            reinterpret_cast<volatile unsigned long long*>(static_cast<char*>(page) + 4096),
            pageDevice,
            pageDevice + 4096};
  CUdeviceptr slotDevice = pageDevice + 32768;
  auto* slot = reinterpret_cast<volatile unsigned long long*>(static_cast<char*>(page) + 32768);
  void* params[] = {&slotDevice};
  std::mt19937 random(1);
  std::uniform_int_distribution<int> gap(50000, 200000);
  for (int i = 0; i < 200; ++i) {
    CHECK(cuLaunchKernel(stamp, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
    CHECK(cuStreamSynchronize(stream));
  }
  for (int block = 0; block < 3; ++block) {
    const auto before = tightest(echo.run(64), 8);
    std::vector<int64_t> submit, trip;
    std::vector<std::pair<int64_t, int64_t>> starts;
    for (int i = 0; i < launches; ++i) {
      if (i % 20 == 0) {
        nextCore();
        for (int j = 0; j < 10; ++j) {
          CHECK(cuLaunchKernel(stamp, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
          CHECK(cuStreamSynchronize(stream));
        }
      }
      spin(gap(random));
      const int64_t t0 = now();
      CHECK(cuLaunchKernel(stamp, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
      const int64_t t1 = now();
      CHECK(cuStreamSynchronize(stream));
      const int64_t t2 = now();
      submit.push_back(t1 - t0);
      trip.push_back(t2 - t0);
      starts.emplace_back(t0, static_cast<int64_t>(*slot));
    }
    const auto after = tightest(echo.run(64), 8);
    auto centre = [](const std::vector<Exchange>& v) {
      double h = 0, d = 0, lo = 1e300, hi = -1e300;
      for (auto& e : v) {
        h += static_cast<double>(e.host - v[0].host),
            d += static_cast<double>(e.device - e.host - (v[0].device - v[0].host));
        lo = std::min(lo, static_cast<double>(e.device - e.host - (v[0].device - v[0].host)));
        hi = std::max(hi, static_cast<double>(e.device - e.host - (v[0].device - v[0].host)));
      }
      struct {
        double host, offset, spread;
      } c{v[0].host + h / v.size(), (v[0].device - v[0].host) + 0.0, hi - lo};
      c.offset = d / v.size();
      return c;
    };
    const auto a = centre(before), b = centre(after);
    const int64_t base = before[0].device - before[0].host;
    const double offA = a.offset, offB = b.offset + static_cast<double>(after[0].device - after[0].host - base);
    const double slope = (offB - offA) / (b.host - a.host);
    std::vector<double> start;
    int negatives = 0;
    for (auto& s : starts) {
      const double offset = offA + slope * (static_cast<double>(s.first) - a.host);
      const double latency = static_cast<double>(s.second - s.first - base) - offset;
      negatives += latency < 0;
      start.push_back(latency);
    }
    std::printf(
        "block %d: bracket %.0f/%.0f ns, spread of best eight %.0f/%.0f ns, drift %.2f ppm over %.2f s, negatives %d "
        "of %d\n",
        block, (double)before[0].bracket, (double)after[0].bracket, a.spread, b.spread, slope * 1e6,
        (b.host - a.host) / 1e9, negatives, launches);
    std::printf("  submit p50 %.0f p99 %.0f  start p50 %.0f p99 %.0f  round trip p50 %.0f p99 %.0f ns\n",
                quantile(submit, .5), quantile(submit, .99), quantile(start, .5), quantile(start, .99),
                quantile(trip, .5), quantile(trip, .99));
  }
  return 0;
}
