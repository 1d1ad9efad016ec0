// The cost of the driver's cheapest function, looked up as a framework does: ns per call, the median over batches, in
// the requested number of threads at once. bench/counting.js runs it with and without the counting library.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace {

constexpr int kBatches = 101;
constexpr int kCalls = 100'000;
using Version = int (*)(int*);

double median_ns(Version function) {
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    const int64_t from = gvb::now_ns();
    int version = 0;
    for (int i = 0; i < kCalls; ++i) function(&version);
    batches.push_back(static_cast<double>(gvb::now_ns() - from) / kCalls);
  }
  std::sort(batches.begin(), batches.end());
  return batches[kBatches / 2];
}

}  // namespace

int main(int count, char** arguments) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto function = driver ? reinterpret_cast<Version>(dlsym(driver, "cuDriverGetVersion")) : nullptr;
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  if (!function || threads < 1) {
    std::fprintf(stderr, "%s\n", function ? "Expected a number of threads." : dlerror());
    return 2;
  }
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([&] { median_ns(function); });
  std::printf("%.3f\n", median_ns(function));
  for (std::thread& other : others) other.join();
}
