// Words at both ends of blocks of memory, in a module of its own. Names are extern "C": the simulated driver executes
// them by name.

#include <cstdint>

namespace {

// Word 2·i is the first of block i, word 2·i + 1 its last.
__device__ __forceinline__ volatile uint32_t* end_of(const unsigned long long* blocks, unsigned long long bytes,
                                                     unsigned word) {
  const unsigned long long offset = word % 2 == 0 ? 0 : bytes - sizeof(uint32_t);
  return reinterpret_cast<volatile uint32_t*>(blocks[word / 2] + offset);
}

}  // namespace

// Writes a word, different for every end and seed, to both ends of each block.
extern "C" __global__ void gvb_write_ends(const unsigned long long* blocks, unsigned long long bytes, unsigned words,
                                          unsigned seed) {
  const unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word < words) *end_of(blocks, bytes, word) = (word + seed) * 2654435761u;
}

// found[i] is the current value of word i.
extern "C" __global__ void gvb_read_ends(const unsigned long long* blocks, unsigned long long bytes, unsigned words,
                                         uint32_t* found) {
  const unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word < words) found[word] = *end_of(blocks, bytes, word);
}
