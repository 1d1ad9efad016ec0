// Adds up over all threads what each found to be right and wrong.
#pragma once

__device__ __forceinline__ void add_found(unsigned long long* found, unsigned long long right,
                                          unsigned long long wrong) {
  for (unsigned step = 16; step > 0; step /= 2) {
    right += __shfl_xor_sync(0xffffffffu, right, step);
    wrong += __shfl_xor_sync(0xffffffffu, wrong, step);
  }
  if (threadIdx.x % 32 != 0) return;
  if (right != 0) atomicAdd(&found[0], right);
  if (wrong != 0) atomicAdd(&found[1], wrong);
}
