// The kernels of IS-009's aggressors, one shared resource each, in a module of their own; long kernels are gvb_occupy of
// the base module. Names are extern "C": the simulated driver executes them by name.
//
// `blocks` are 32 counters, 128 bytes apart so that many short blocks do not queue for one address. Each block adds 1
// after its work, so only blocks that ran count.

#include <cstdint>

namespace {

constexpr unsigned kCounters = 32;
constexpr unsigned kCounterStride = 16;  // in words of 8 bytes

__device__ __forceinline__ void count_block(unsigned long long* blocks) {
  if (threadIdx.x == 0) atomicAdd(&blocks[blockIdx.x % kCounters * kCounterStride], 1ull);
}

}  // namespace

// Blocks that end at once: load for the block scheduler.
extern "C" __global__ void gvb_tiny_blocks(unsigned long long* blocks) { count_block(blocks); }

// Reads `count` words of 16 bytes `passes` times, bypassing L1. They are zeros, which the compiler does not know.
extern "C" __global__ void gvb_sweep(const uint4* words, unsigned long long count, unsigned passes,
                                     unsigned long long* blocks) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (unsigned pass = 0; pass < passes; ++pass)
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += threads) {
      uint4 word;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                   : "l"(words + i));
      sum += word.x ^ word.y ^ word.z ^ word.w;
    }
  if (sum == 0) count_block(blocks);
}

// One load of 4 bytes per page, in an order that no prefetcher follows: the number of pages must not be a multiple of
// the step. Each thread makes `rounds` loads, each dependent on the previous one.
extern "C" __global__ void gvb_touch_pages(const unsigned char* memory, unsigned long long pages,
                                           unsigned long long pageBytes, unsigned rounds, unsigned long long* blocks) {
  constexpr unsigned long long kStep = 7919;
  unsigned long long page = (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kStep % pages;
  unsigned sum = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    // Uses another line of each page in each round, so that no cache holds the line.
    const unsigned long long line = (i + threadIdx.x) * 128ull % pageBytes;
    unsigned word;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(memory + page * pageBytes + line));
    sum += word;
    page = (page + kStep + word) % pages;
  }
  if (sum == 0) count_block(blocks);
}

// Four independent chains of multiplications and additions: as many instructions as an SM can issue.
extern "C" __global__ void gvb_issue(unsigned rounds, float factor, unsigned long long* blocks) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (unsigned i = 0; i < rounds; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) {
      a = fmaf(a, factor, 1.0f);
      b = fmaf(b, factor, 1.0f);
      c = fmaf(c, factor, 1.0f);
      d = fmaf(d, factor, 1.0f);
    }
  }
  // Always true for the factors in use; the compiler does not know that.
  if (a + b + c + d >= 0) count_block(blocks);
}

// Run after a copy to the device: counts if the first and the last word are what was sent.
extern "C" __global__ void gvb_arrived(const uint32_t* words, unsigned long long count, uint32_t expected,
                                       unsigned long long* blocks) {
  if (words[0] == expected && words[count - 1] == expected) count_block(blocks);
}

// Run before a copy from the device, and on newly allocated memory: writes the first and the last word, which the host
// checks.
extern "C" __global__ void gvb_mark_ends(uint32_t* words, unsigned long long count, uint32_t value,
                                         unsigned long long* blocks) {
  words[0] = value;
  words[count - 1] = value;
  count_block(blocks);
}
