// Programs that fork, and threads that start at the same time.
#include <atomic>
#include <thread>
#include <vector>

#include "probe/probe.h"
#include "probe/process.h"

namespace gvb::probe {
namespace {

// Like servers with worker processes: the library is loaded, but nothing has been called.
void before_first_call(Run& run) {
  run.load();
  const pid_t child = fork_child([&run] {
    run.enter();
    run.use_memory("memory in the child");
  });
  await_end("the child", child);
  run.enter();
  run.use_memory("memory in the parent");
}

// The driver does not survive a fork: the child must get an error, and the parent must be unaffected.
void after_initialisation(Run& run) {
  run.enter();
  run.use_memory("memory before the fork");
  const pid_t child = fork_child([&run] {
    CUdeviceptr at = 0;
    size_t free = 0, total = 0;
    run.call(cuda::cuMemGetInfo_v2, &free, &total);
    run.call(cuda::cuMemAlloc_v2, &at, 1 << 20);
    run.call(cuda::cuInit, 0);
  });
  await_end("the child", child);
  run.use_memory("memory after the fork");
}

constexpr int kThreads = 32;

void same_first_call(Run& run) {
  run.load();
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<int> codes(kThreads, -1), counts(kThreads, -1);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  report::calls("cuInit in 32 threads");
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      ready.fetch_add(1);
      while (!go.load()) {
      }
      const auto init = reinterpret_cast<int (*)(unsigned)>(run.cuda.address(cuda::cuInit));
      const auto count = reinterpret_cast<int (*)(int*)>(run.cuda.address(cuda::cuDeviceGetCount));
      codes[static_cast<size_t>(i)] = init ? init(0) : abi::CUDA_ERROR_NOT_FOUND;
      if (count) count(&counts[static_cast<size_t>(i)]);
    });
  while (ready.load() < kThreads) std::this_thread::yield();
  go.store(true);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) report::code("cuInit in a thread", codes[static_cast<size_t>(i)]);
  for (int i = 1; i < kThreads; ++i)
    run.expect("the same number of GPUs", counts[static_cast<size_t>(i)] == counts[0] && counts[0] > 0);
  run.enter();
  run.use_memory("memory afterwards");
}

}  // namespace

Probes fork_probes() {
  return {
      {"fork before the first call", "HAMi#55", before_first_call},
      {"fork after initialisation", "HAMi#588", after_initialisation},
      {"32 threads whose first call is the same", "HAMi#1834", same_first_call},
  };
}

}  // namespace gvb::probe
