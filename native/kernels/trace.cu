// Where and when blocks ran, in a module of its own. Names are extern "C": the simulated driver executes them by name.

#include <cstdint>

#include "timer.cuh"

namespace {

struct Stretch {
  unsigned long long start, end;
  unsigned long long sm;
};

__device__ __forceinline__ unsigned long long multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

}  // namespace

// Each block watches the timer for spinNs and records every interval in which it ran: a context that is switched out
// sees the timer jump by more than gapNs. *used counts intervals, including those that did not fit.
extern "C" __global__ void gvb_trace_blocks(Stretch* stretches, unsigned long long room, unsigned long long* used,
                                            unsigned long long spinNs, unsigned long long gapNs) {
  if (threadIdx.x != 0) return;
  const unsigned long long first = global_timer();
  unsigned long long start = first, last = first;
  const auto write = [&] {
    const unsigned long long place = atomicAdd(used, 1ull);
    if (place < room) stretches[place] = Stretch{start, last, multiprocessor()};
  };
  while (last - first < spinNs) {
    const unsigned long long now = global_timer();
    if (now - last > gapNs) {
      write();
      start = now;
    }
    last = now;
  }
  write();
}
