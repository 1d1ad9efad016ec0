// A checksum of device memory (bench/llm/checksum.h). Names are extern "C": the simulated driver executes them by name.

#include "bench/llm/normal_value.h"

extern "C" __global__ void __launch_bounds__(256)
    gvb_checksum(const unsigned* words, unsigned long long count, unsigned long long* sum) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
  unsigned long long own = 0;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    own += gvb::mixed(i << 32 ^ words[i]);
  for (unsigned step = 16; step > 0; step /= 2) own += __shfl_xor_sync(0xffffffffu, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}
