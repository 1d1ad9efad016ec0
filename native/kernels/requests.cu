// The steps of a request (IS-009's victim), in a module of their own. Names are extern "C": the simulated driver executes
// them by name.

#include <cstdint>

#include "timer.cuh"

// A fixed amount of work, unlike a block that watches a clock: each thread makes `rounds` loads from `count` words of
// 16 bytes (a power of two; all zeros, which the compiler does not know), bypassing L1, and arithmetic that waits for
// each. Then words[i] = words[i] * 1664525 + 1013904223 (mod 2^32), where step 0 begins with seed + i, so that the last
// step's words show that every step ran. stamps[0] is when step 0 began; stamps[1], which the host sets to 0, when the
// last block ended.
extern "C" __global__ void gvb_request_step(const uint4* set, unsigned long long count, unsigned rounds,
                                            uint32_t* words, unsigned wordCount, unsigned seed, unsigned step,
                                            unsigned long long* stamps) {
  const unsigned long long begin = global_timer();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  unsigned long long at = thread;
  float value = 1.0f;
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    uint4 word;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(set + (at & (count - 1))));
    sum |= word.x | word.y | word.z | word.w;
    const float addend = static_cast<float>(sum);
#pragma unroll
    for (unsigned i = 0; i < 32; ++i) value = fmaf(value, 0.5f, addend);
    at += threads;
  }
  const unsigned drift = sum | (value < 0 ? 1u : 0u);  // 0
  for (unsigned i = thread; i < wordCount; i += threads)
    words[i] = (step == 0 ? seed + i : words[i]) * 1664525u + 1013904223u + drift;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0 && step == 0) stamps[0] = begin;
  atomicMax(&stamps[1], global_timer());
}
