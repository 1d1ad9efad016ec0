// Arithmetic of a fixed length, whatever else runs on the GPU.
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

// Steps that need each other's results and that the compiler must not combine: the multiplier is known at run time
// only.
__device__ __forceinline__ unsigned work(unsigned x, unsigned rounds, unsigned multiplier) {
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned step = 0; step < kStepsOfRound; ++step) step_of_chain(x, multiplier);
  }
  return x;
}
