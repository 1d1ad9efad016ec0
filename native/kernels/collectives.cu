// What ranks add up, and whether the sums are right, in a module of its own. Names are extern "C": the simulated driver
// executes them by name.

#include <cstdint>

#include "bench/nccl/part_value.h"
#include "found.cuh"

namespace {

__device__ __forceinline__ uint64_t all_threads() { return uint64_t{gridDim.x} * blockDim.x; }
__device__ __forceinline__ uint64_t own_thread() { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace

extern "C" __global__ void __launch_bounds__(256)
    gvb_parts(float* numbers, unsigned long long count, unsigned rank, unsigned seed) {
  for (uint64_t i = own_thread(); i < count; i += all_threads())
    numbers[i] = static_cast<float>(gvb::part_value(i, rank, seed));
}

// Of `results` arrays of `count` sums, each `step` numbers behind the one before: found[0] grows by how many are the
// exact sums of all ranks' parts, found[1] by how many are not. The host sets both to 0.
extern "C" __global__ void __launch_bounds__(256)
    gvb_sums_check(const float* numbers, unsigned long long count, unsigned long long results, unsigned long long step,
                   unsigned ranks, unsigned seed, unsigned long long* found) {
  unsigned long long right = 0, wrong = 0;
  for (uint64_t i = own_thread(); i < count * results; i += all_threads()) {
    const uint64_t place = i % count;
    uint32_t sum = 0;
    for (unsigned rank = 0; rank < ranks; ++rank) sum += gvb::part_value(place, rank, seed);
    if (numbers[i / count * step + place] == static_cast<float>(sum))
      ++right;
    else
      ++wrong;
  }
  add_found(found, right, wrong);
}
