// Mistakes for which a program gets an error, after which it keeps working.
#include <string>
#include <thread>

#include "kernels/ptx.h"
#include "probe/probe.h"

namespace gvb::probe {
namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr unsigned kMostGridY = 65535, kMostThreads = 1024, kMostShared = 1 << 20;

void oversized(Run& run) {
  run.enter();
  const auto kernel = run.empty_kernel();
  run.call(cuda::cuLaunchKernel, kernel, 1, kMostGridY + 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  run.call(cuda::cuLaunchKernel, kernel, 1, 1, 1, kMostThreads + 1, 1, 1, 0, nullptr, nullptr, nullptr);
  run.call(cuda::cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, kMostShared, nullptr, nullptr, nullptr);
  run.need(cuda::cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  run.need(cuda::cuCtxSynchronize);
}

void corrupt(Run& run) {
  run.enter();
  abi::CUmodule module = nullptr;
  run.call(cuda::cuModuleLoadDataEx, &module, "no module at all", 0, nullptr, nullptr);
  // The remains of an interrupted download.
  const std::string whole = gvb_ptx_base;
  const std::string half = whole.substr(0, whole.size() / 2);
  run.call(cuda::cuModuleLoadDataEx, &module, half.c_str(), 0, nullptr, nullptr);
  run.empty_kernel();
}

void freed_twice(Run& run) {
  run.enter();
  CUdeviceptr at = 0;
  run.need(cuda::cuMemAlloc_v2, &at, kBytes);
  run.need(cuda::cuMemFree_v2, at);
  run.call(cuda::cuMemFree_v2, at);
  run.use_memory("memory afterwards");
}

void freed_nothing(Run& run) {
  run.enter();
  run.call(cuda::cuMemFree_v2, 0);
  run.call(cuda::cuMemFreeHost, nullptr);
  run.use_memory("memory afterwards");
}

void left_by_its_thread(Run& run) {
  run.enter();
  CUdeviceptr at = 0;
  run.need(cuda::cuMemAlloc_v2, &at, kBytes);
  run.fill(at, kBytes, 0);
  run.need(cuda::cuCtxSynchronize);
  const auto kernel = run.kernel("gvb_count");
  const auto set_current = run.address(cuda::cuCtxSetCurrent);
  const auto launch = run.address(cuda::cuLaunchKernel);
  int worst = 0;
  constexpr uint64_t kLaunches = 2'000;
  report::calls("cuLaunchKernel in a thread that ends");
  std::thread([&] {
    void* parameters[] = {&at};
    worst = set_current(run.context);
    for (uint64_t i = 0; i < kLaunches && worst == 0; ++i)
      worst = launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
  }).join();
  report::code("cuLaunchKernel in a thread that ends", worst);
  run.need(cuda::cuCtxSynchronize);
  uint64_t ran = 0;
  run.need(cuda::cuMemcpyDtoH_v2, &ran, at, sizeof ran);
  run.expect("all that the thread launched ran", ran == kLaunches);
  run.need(cuda::cuMemFree_v2, at);
}

}  // namespace

Probes misuse_probes() {
  return {
      error_probe({"grid, block and shared memory too large", "", oversized}),
      error_probe({"corrupt module", "", corrupt}),
      error_probe({"memory freed twice", "", freed_twice}),
      error_probe({"nothing freed", "", freed_nothing}),
      error_probe({"thread that ends with work pending", "", left_by_its_thread}),
  };
}

}  // namespace gvb::probe
