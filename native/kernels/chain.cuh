// A fixed amount of arithmetic, whatever else runs on the GPU.
#pragma once

constexpr unsigned kStepsOfRound = 16;
constexpr unsigned kIncrement = 0x9e3779b1u;

__device__ __forceinline__ void step_of_chain(unsigned& x, unsigned multiplier) {
#ifdef __CUDACC__
  asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(multiplier), "r"(kIncrement));
#else
  x = x * multiplier + kIncrement;
#endif
}

// Each step needs the previous result, and the compiler cannot combine steps, because the multiplier is known only at
// run time.
__device__ __forceinline__ unsigned work(unsigned x, unsigned rounds, unsigned multiplier) {
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned step = 0; step < kStepsOfRound; ++step) step_of_chain(x, multiplier);
  }
  return x;
}
