// Streams of reads, writes and copies at the rate of the memory. Names are extern "C": the simulated driver executes
// them by name.
//
// A thread that reads or writes makes eight accesses of 16 bytes, its block 32 KiB. ptxas keeps to 32 registers, with
// which a multiprocessor has all of its 2048 threads and each of them four loads or more in flight: 128 KiB, several times
// what the latency of DRAM asks for. Blocks come in order, so that neighbouring multiprocessors read from the same pages.
// Each is short: the last ones leave little of the card idle. A thread that copies moves 16 bytes alone: with eight
// DRAM turns between reading and writing more slowly (H200: 4 120 in place of 4 290 GB/s; persistent blocks and bulk
// copies through shared memory reach 3 900 to 3 990).

#include <cstdint>

namespace {

constexpr unsigned kThreads = 256, kInFlight = 8, kCopyThreads = 512;
constexpr uint32_t kFactor = 2654435761u;  // of the pattern, Knuth's multiplicative hash
constexpr unsigned kPlaces = 32, kApart = 16;  // of counters: 128 bytes apart

__device__ __forceinline__ unsigned long long first_piece() {
  return static_cast<unsigned long long>(blockIdx.x) * (kThreads * kInFlight) + threadIdx.x;
}

__device__ __forceinline__ unsigned long long* own_counter(unsigned long long* counters) {
  return counters + blockIdx.x % kPlaces * kApart;
}

__device__ __forceinline__ void count_block(unsigned long long* counters) {
  if (threadIdx.x == 0) atomicAdd(own_counter(counters), 1ull);
}

__device__ __forceinline__ void load(uint4 (&pieces)[kInFlight], const uint4* from) {
#pragma unroll
  for (unsigned i = 0; i < kInFlight; ++i) pieces[i] = __ldg(from + first_piece() + i * kThreads);
}

}  // namespace

// Adds all words (mod 2^32) to the counters: of every warp its sum. The buffers of all three are whole blocks.
extern "C" __global__ void __launch_bounds__(kThreads)
    gvb_stream_read(const uint4* in, unsigned long long* counters) {
  uint4 pieces[kInFlight];
  load(pieces, in);
  uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kInFlight; ++i) sum += pieces[i].x + pieces[i].y + pieces[i].z + pieces[i].w;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(own_counter(counters), static_cast<unsigned long long>(sum));
}

// Word i becomes (i + seed) * kFactor. Every block adds 1 to the counters.
extern "C" __global__ void __launch_bounds__(kThreads)
    gvb_stream_write(uint4* out, unsigned seed, unsigned long long* counters) {
#pragma unroll
  for (unsigned i = 0; i < kInFlight; ++i) {
    const unsigned long long at = first_piece() + i * kThreads;
    const uint32_t first = (static_cast<uint32_t>(at) * 4 + seed) * kFactor;
    out[at] = make_uint4(first, first + kFactor, first + 2 * kFactor, first + 3 * kFactor);
  }
  count_block(counters);
}

// Every block adds 1 to the counters.
extern "C" __global__ void __launch_bounds__(kCopyThreads)
    gvb_stream_copy(const uint4* in, uint4* out, unsigned long long* counters) {
  const unsigned long long at = static_cast<unsigned long long>(blockIdx.x) * kCopyThreads + threadIdx.x;
  out[at] = __ldg(in + at);
  count_block(counters);
}
