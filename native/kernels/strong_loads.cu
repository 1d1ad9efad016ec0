// Latencies of loads that no cache of a multiprocessor may answer. Names are extern "C": the simulated driver executes
// them by name.

#include <cstdint>

#include "strong_loads_shape.h"
#include "timer.cuh"

namespace {

__device__ __forceinline__ unsigned cycles_now() {
#ifdef __CUDACC__
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
#else
  return static_cast<unsigned>(global_timer());
#endif
}

__device__ __forceinline__ unsigned volatile_load(const unsigned* word) {
#ifdef __CUDACC__
  unsigned value;
  asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  return *word;
#endif
}

__device__ __forceinline__ unsigned acquiring_load(const unsigned* word) {
#ifdef __CUDACC__
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  return *word;
#endif
}

}  // namespace

// One thread: the cycles of kStrongLoads volatile loads, one after the other, and of as many that acquire, which are
// written once all are over.
extern "C" __global__ void gvb_strong_loads(const unsigned* word, unsigned* cycles) {
  using gvb::kStrongLoads;
  __shared__ unsigned took[2 * kStrongLoads];
  [[maybe_unused]] __shared__ volatile unsigned arrived;
#pragma unroll 1
  for (unsigned i = 0; i < 2 * kStrongLoads; ++i) {
    const unsigned before = cycles_now();
    arrived = i < kStrongLoads ? volatile_load(word) : acquiring_load(word);  // the next reading waits for this store
    took[i] = cycles_now() - before;
  }
#pragma unroll 1
  for (unsigned i = 0; i < 2 * kStrongLoads; ++i) cycles[i] = took[i];
}
