// Streams of reads, writes and copies at the memory's rate. Names are extern "C": the simulated driver executes them by
// name.
//
// Blocks are short and scheduled in order: neighbouring multiprocessors use the same pages, and the last blocks leave
// little of the card idle. A reading thread has 16 loads of 16 bytes in flight (on one H200 4630 GB/s; with eight 4500,
// with four 4160). A writing or copying thread moves only 16 bytes: 4645 and 4240 GB/s, against 4530 and 4060 with
// eight times as much, because DRAM then switches between reading and writing more slowly. Persistent blocks and bulk
// copies through shared memory copy at 3900 to 3990 GB/s on a card where this kernel reaches 4290. cudaMemcpyAsync:
// 4240. Measured: bench/results/h200/2026-11-23-4646957.

#include <cstdint>

namespace {

constexpr unsigned kReadThreads = 256, kInFlight = 16, kWriteThreads = 512;
constexpr uint32_t kFactor = 2654435761u;  // of the pattern, Knuth's multiplicative hash
constexpr unsigned kPlaces = 32, kApart = 16;  // of counters: 128 bytes apart

__device__ __forceinline__ unsigned long long* own_counter(unsigned long long* counters) {
  return counters + blockIdx.x % kPlaces * kApart;
}

__device__ __forceinline__ void count_block(unsigned long long* counters) {
  if (threadIdx.x == 0) atomicAdd(own_counter(counters), 1ull);
}

__device__ __forceinline__ unsigned long long own_piece() {
  return static_cast<unsigned long long>(blockIdx.x) * kWriteThreads + threadIdx.x;
}

}  // namespace

// Adds all words (mod 2^32) to the counters, one sum per warp. All three kernels need buffers of whole blocks.
extern "C" __global__ void __launch_bounds__(kReadThreads)
    gvb_stream_read(const uint4* in, unsigned long long* counters) {
  const uint4* from = in + static_cast<unsigned long long>(blockIdx.x) * (kReadThreads * kInFlight) + threadIdx.x;
  uint4 pieces[kInFlight];
#pragma unroll
  for (unsigned i = 0; i < kInFlight; ++i) pieces[i] = __ldg(from + i * kReadThreads);
  uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kInFlight; ++i) sum += pieces[i].x + pieces[i].y + pieces[i].z + pieces[i].w;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(own_counter(counters), static_cast<unsigned long long>(sum));
}

// Word i becomes (i + seed) * kFactor. Every block adds 1 to the counters.
extern "C" __global__ void __launch_bounds__(kWriteThreads)
    gvb_stream_write(uint4* out, unsigned seed, unsigned long long* counters) {
  const unsigned long long at = own_piece();
  const uint32_t first = (static_cast<uint32_t>(at) * 4 + seed) * kFactor;
  out[at] = make_uint4(first, first + kFactor, first + 2 * kFactor, first + 3 * kFactor);
  count_block(counters);
}

// Every block adds 1 to the counters.
extern "C" __global__ void __launch_bounds__(kWriteThreads)
    gvb_stream_copy(const uint4* in, uint4* out, unsigned long long* counters) {
  const unsigned long long at = own_piece();
  out[at] = __ldg(in + at);
  count_block(counters);
}
