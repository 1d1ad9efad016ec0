// Streams of reads, writes and copies by blocks that stay, for tenants beside one another: the grid decides how much of
// the GPU a tenant may take. Names are extern "C": the simulated driver executes them by name.
//
// `span` holds two stamps of %globaltimer: when the first block began and when the last one ended. `blocks` are 32
// counters, 128 bytes apart: each block adds 1 when it has done its work. Loads are past L1, which would hold what another
// pass reads again.

#include <cstdint>

#include "timer.cuh"

namespace {

constexpr unsigned kCounters = 32, kCounterStride = 16;  // in words of 8 bytes
constexpr unsigned kInFlight = 4;                        // loads of a thread that wait at a time
constexpr uint32_t kFactor = 2654435761u;                // Knuth's multiplicative hash
constexpr uint32_t kMark = 0x9e3779b9u;
constexpr unsigned long long kWrong = 1ull << 48;

struct Report {
  unsigned long long* span;
  unsigned long long* blocks;
};

__device__ __forceinline__ unsigned long long* own_counter(const Report& report) {
  return &report.blocks[blockIdx.x % kCounters * kCounterStride];
}

__device__ __forceinline__ void begin(const Report& report) {
  if (threadIdx.x == 0) atomicMin(&report.span[0], global_timer());
}

__device__ __forceinline__ void end(const Report& report) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&report.span[1], global_timer());
  atomicAdd(own_counter(report), 1ull);
}

__device__ __forceinline__ unsigned long long first_piece() {
  return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ unsigned long long threads() {
  return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

// The words of a piece are kMark together (x ^ y ^ z ^ w), as those of cleared memory are not, which shows that each of
// them was read; and no piece is like its neighbour, so that nothing can be compressed.
__device__ __forceinline__ uint4 piece_at(unsigned long long index, uint32_t seed) {
  const uint32_t x = (static_cast<uint32_t>(index) * 3 + seed) * kFactor;
  return make_uint4(x, x + kFactor, x + 2 * kFactor, x ^ (x + kFactor) ^ (x + 2 * kFactor) ^ kMark);
}

// 0 where it was written.
__device__ __forceinline__ uint32_t fault_of(const uint4& piece) {
  return piece.x ^ piece.y ^ piece.z ^ piece.w ^ kMark;
}

}  // namespace

// Reads `count` pieces of 16 bytes `passes` times, round and round: every thread has as many loads in flight in a small
// set, which has fewer pieces than there are threads, as in a large one. A piece that was never written spoils the count
// of blocks.
extern "C" __global__ void __launch_bounds__(1024)
    gvb_bandwidth_read(const uint4* in, unsigned long long count, unsigned passes, unsigned long long* span,
                       unsigned long long* blocks) {
  const Report report{span, blocks};
  begin(report);
  const unsigned long long step = threads(), all = count * passes, onward = step % count;
  unsigned long long at = first_piece() % count;
  const auto next = [&] {
    const uint4 piece = __ldcg(in + at);
    at += onward;
    if (at >= count) at -= count;
    return piece;
  };
  uint32_t wrong = 0;
  unsigned long long i = first_piece();
  for (; i + (kInFlight - 1) * step < all; i += kInFlight * step) {
    uint4 pieces[kInFlight];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) pieces[k] = next();
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) wrong |= fault_of(pieces[k]);
  }
  for (; i < all; i += step) wrong |= fault_of(next());
  // No number of blocks adds up to what is counted then.
  if (__any_sync(0xffffffff, wrong != 0) && threadIdx.x % 32 == 0) atomicAdd(own_counter(report), kWrong);
  end(report);
}

// Writes `count` pieces `passes` times.
extern "C" __global__ void __launch_bounds__(1024)
    gvb_bandwidth_write(uint4* out, unsigned long long count, unsigned passes, unsigned seed, unsigned long long* span,
                        unsigned long long* blocks) {
  const Report report{span, blocks};
  begin(report);
  const unsigned long long step = threads();
  for (unsigned pass = 0; pass < passes; ++pass)
    for (unsigned long long i = first_piece(); i < count; i += step) out[i] = piece_at(i, seed);
  end(report);
}

// Copies `count` pieces `passes` times.
extern "C" __global__ void __launch_bounds__(1024)
    gvb_bandwidth_copy(const uint4* in, uint4* out, unsigned long long count, unsigned passes, unsigned long long* span,
                       unsigned long long* blocks) {
  const Report report{span, blocks};
  begin(report);
  const unsigned long long step = threads();
  for (unsigned pass = 0; pass < passes; ++pass) {
    unsigned long long i = first_piece();
    for (; i + (kInFlight - 1) * step < count; i += kInFlight * step) {
      uint4 pieces[kInFlight];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) pieces[k] = __ldcg(in + i + k * step);
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) out[i + k * step] = pieces[k];
    }
    for (; i < count; i += step) out[i] = __ldcg(in + i);
  }
  end(report);
}
