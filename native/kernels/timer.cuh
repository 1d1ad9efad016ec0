// The clock of the GPU, in ns.
#pragma once

__device__ __forceinline__ unsigned long long global_timer() {
#ifdef __CUDACC__
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#else
  static unsigned long long t = 1;
  return t += 32;
#endif
}
