// A stage of a pipeline (bench/llm/pipeline.h), in a module of its own. Names are extern "C": the simulated driver
// executes them by name.

#include "chain.cuh"
#include "timer.cuh"

// Takes a micro-batch's token and does `rounds` rounds of arithmetic on it in every block. The sum over the blocks is
// the next stage's token, so that a stage which does not wait for the previous one passes on a wrong token. The last
// block to end writes the start of the first block to stamps[0] and its own end to stamps[1]. scratch[0 … 2]: 0 before
// and after.
extern "C" __global__ void __launch_bounds__(128)
    gvb_stage(volatile unsigned long long* stamps, unsigned long long* scratch, const volatile unsigned* token_in,
              volatile unsigned* token_out, unsigned rounds, unsigned multiplier) {
  const unsigned long long began = global_timer();
  const unsigned x = work(*token_in, rounds, multiplier);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&scratch[0], ~began);  // the complement, so that 0 is the identity of the maximum
  atomicAdd(&scratch[1], static_cast<unsigned long long>(x));
  __threadfence();
  if (atomicAdd(&scratch[2], 1ull) + 1 != gridDim.x) return;
  __threadfence();
  volatile unsigned long long* sums = scratch;
  *token_out = static_cast<unsigned>(sums[1]);
  stamps[0] = ~sums[0];
  sums[0] = 0;
  sums[1] = 0;
  sums[2] = 0;
  stamps[1] = global_timer();
  __threadfence_system();
}
