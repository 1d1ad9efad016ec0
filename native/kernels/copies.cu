// What copies brought to the device, in a module of its own. Names are extern "C": the simulated driver executes them by
// name.

#include <cstdint>

#include "found.cuh"

// Of words that should be those of gvb_mix (base.cu): found[0] grows by how many are, found[1] by how many are not. The
// host sets both to 0.
extern "C" __global__ void __launch_bounds__(256)
    gvb_mix_check(const uint32_t* words, unsigned long long count, unsigned seed, unsigned long long* found) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
  unsigned long long right = 0, wrong = 0;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    if (words[i] == (static_cast<uint32_t>(i) + seed) * 2654435761u)
      ++right;
    else
      ++wrong;
  }
  add_found(found, right, wrong);
}
