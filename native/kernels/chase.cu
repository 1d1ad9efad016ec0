// A walk through lines of 128 bytes in random order, in which each load needs the one before it: the latency of single
// loads, past L1. Names are extern "C": the simulated driver executes them by name.

#include <cstdint>

#include "chase_report.h"
#include "timer.cuh"

namespace {

using namespace gvb;

__device__ __forceinline__ long long cycles() {
#ifdef __CUDACC__
  long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
#else
  return static_cast<long long>(global_timer());
#endif
}

}  // namespace

// Makes a cycle of `count` lines in the order of `order`: the first word of each is the place of the next one. `blocks`
// are 32 counters, 128 bytes apart: each block adds 1.
extern "C" __global__ void __launch_bounds__(256)
    gvb_chase_link(unsigned* lines, const unsigned* order, unsigned count, unsigned long long* blocks) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    lines[static_cast<size_t>(order[i]) * kChaseLineWords] = order[i + 1 == count ? 0 : i + 1];
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&blocks[blockIdx.x % 32 * 16], 1ull);
}

// One thread of each block of 32 makes `loads` steps from the line `starts[block]` and writes the line where it arrives
// to `ends[block]`. `report` is as chase_report.h says.
extern "C" __global__ void __launch_bounds__(32)
    gvb_chase(const unsigned* lines, unsigned count, const unsigned* starts, unsigned loads, unsigned* ends,
              unsigned long long* report) {
  __shared__ unsigned counts[kChaseBins];
  __shared__ unsigned long long sums[kChaseBins];
  [[maybe_unused]] __shared__ volatile unsigned arrived;
  for (unsigned bin = threadIdx.x; bin < kChaseBins; bin += blockDim.x) {
    counts[bin] = 0;
    sums[bin] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned line = starts[blockIdx.x];
    const unsigned long long began = global_timer();
    const long long first = cycles();
    for (unsigned i = 0; i < loads && line < count; ++i) {
      const long long before = cycles();
      line = __ldcg(lines + static_cast<size_t>(line) * kChaseLineWords);
      arrived = line;  // the second reading of the clock waits for the load because this store does
      const long long took = cycles() - before;
      const unsigned latency = static_cast<unsigned>(took < 0xffffffffll ? took : 0xffffffffll);
      const unsigned bin = chase_bin(latency);
      ++counts[bin];
      sums[bin] += latency;
    }
    const long long last = cycles();
    const unsigned long long ended = global_timer();
    ends[blockIdx.x] = line;
    atomicMin(&report[kChaseBegan], began);
    atomicMax(&report[kChaseEnded], ended);
    atomicAdd(&report[kChaseCycles], static_cast<unsigned long long>(last - first));
    atomicAdd(&report[kChaseNs], ended - began);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kChaseBins; bin += blockDim.x) {
    if (counts[bin] == 0) continue;
    atomicAdd(&report[kChaseCounts + bin], static_cast<unsigned long long>(counts[bin]));
    atomicAdd(&report[kChaseSums + bin], sums[bin]);
  }
}
