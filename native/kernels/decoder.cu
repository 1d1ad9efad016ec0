// The operations of a Llama-shaped decoder between its matrix products (LLM-004), in a module of their own. Activations
// are fp16, the residual stream and all sums single precision. Rows are tokens: row r belongs to sequence first + r /
// rowsPerSequence, at positions[r % rowsPerSequence], so that a batch's decode step and a part of a prompt use the same
// kernels. Values that change between steps are in device memory, so that one captured graph serves all steps. Names
// are extern "C": the simulated driver executes them by name.

#include "kernels/ampere.cuh"

// Not unnamed: shared variables' names contain the namespace, and an unnamed one is named after the path of the file.
namespace gvb_decoder {

constexpr unsigned kWarp = 32;
constexpr unsigned kPageTokens = 16;  // of the KV cache; must match bench/llm/decoder_kernels.h
constexpr unsigned kMostGroup = 8;    // query heads that share a KV head: the rows of a tensor core's tile in use
constexpr float kEpsilon = 1e-5f;
constexpr unsigned long long kNotFinite = ~0ull;

using gvb::F16;

// Rows 8 to 15 of the left factor are zero; those of the sums are dropped.
__device__ __forceinline__ void add_product(float (&sums)[4], uint32_t a0, uint32_t a2, uint32_t b0, uint32_t b1) {
  const uint32_t a[4] = {a0, 0, a2, 0};
  multiply_add<F16>(sums, a, b0, b1);
}

__device__ __forceinline__ float sum_of_block(float value, float* scratch) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  if (threadIdx.x % kWarp == 0) scratch[threadIdx.x / kWarp] = value;
  __syncthreads();
  float sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) sum += scratch[warp];
  return sum;
}

// Keys are ordered like the values; among equal values the first index has the largest key.
__device__ __forceinline__ unsigned long long key_of(float value, unsigned index) {
  const uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return kNotFinite;
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 | (0xffffffffu - index);
}

__device__ __forceinline__ unsigned long long larger(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}

struct Candidate {
  unsigned long long key, checksum;
};

__device__ __forceinline__ Candidate best_of_block(Candidate mine, Candidate* scratch) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    mine.key = larger(mine.key, __shfl_xor_sync(0xffffffffu, mine.key, distance));
    mine.checksum += __shfl_xor_sync(0xffffffffu, mine.checksum, distance);
  }
  __syncthreads();
  if (threadIdx.x % kWarp == 0) scratch[threadIdx.x / kWarp] = mine;
  __syncthreads();
  Candidate best = scratch[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) {
    best.key = larger(best.key, scratch[warp].key);
    best.checksum += scratch[warp].checksum;
  }
  return best;
}

}  // namespace gvb_decoder

using namespace gvb_decoder;

// residual[row] = table[tokens[row]]; a token that is not in the table gets its last row. hidden is a multiple of 8.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_embed(const uint16_t* table, const unsigned* tokens, float* residual, unsigned hidden,
                      unsigned vocabulary) {
  begin_next_grid();
  wait_for_previous_grid();
  const uint16_t* from = table + static_cast<size_t>(min(tokens[blockIdx.x], vocabulary - 1)) * hidden;
  float* to = residual + static_cast<size_t>(blockIdx.x) * hidden;
  for (unsigned i = threadIdx.x * 2; i < hidden; i += blockDim.x * 2) {
    const uint32_t pair = *reinterpret_cast<const uint32_t*>(from + i);
    *reinterpret_cast<float2*>(to + i) = unpack<F16>(pair);
  }
}

// residual[row] += deltaScale · delta[row], unless delta is null; out[row] = RMSNorm(residual[row]) · gain · outScale.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_norm(float* residual, const uint16_t* delta, float deltaScale, const uint16_t* gain, float outScale,
                     uint16_t* out, unsigned hidden) {
  begin_next_grid();
  wait_for_previous_grid();
  __shared__ float scratch[256 / kWarp];
  const size_t base = static_cast<size_t>(blockIdx.x) * hidden;
  float squares = 0;
  for (unsigned i = threadIdx.x * 2; i < hidden; i += blockDim.x * 2) {
    float2 value = *reinterpret_cast<const float2*>(residual + base + i);
    if (delta != nullptr) {
      const uint32_t pair = *reinterpret_cast<const uint32_t*>(delta + base + i);
      const float2 more = unpack<F16>(pair);
      value.x += deltaScale * more.x;
      value.y += deltaScale * more.y;
      *reinterpret_cast<float2*>(residual + base + i) = value;
    }
    squares += value.x * value.x + value.y * value.y;
  }
  const float factor = outScale * rsqrtf(sum_of_block(squares, scratch) / static_cast<float>(hidden) + kEpsilon);
  for (unsigned i = threadIdx.x * 2; i < hidden; i += blockDim.x * 2) {
    const float2 value = *reinterpret_cast<const float2*>(residual + base + i);
    const float2 weight = unpack<F16>(*reinterpret_cast<const uint32_t*>(gain + i));
    *reinterpret_cast<uint32_t*>(out + base + i) = pack<F16>(value.x * factor * weight.x, value.y * factor * weight.y);
  }
}

namespace gvb_decoder {

// Rotates one element of each half of a head by the angle of its position (in Llama the halves form the pairs). The
// lower half of the result is the first element.
__device__ __forceinline__ uint32_t turned_pair(uint32_t first, uint32_t second, float2 angle) {
  const float2 value = unpack<F16>(first | second << 16);
  return pack<F16>(value.x * angle.x - value.y * angle.y, value.y * angle.x + value.x * angle.y);
}

}  // namespace gvb_decoder

// Rotates the queries and keys of qkv[row] by their position, writes the queries to q, and the keys and values to the
// pages of their sequence and, unless those are null, to k and v. angles[position][d / 2] = { cosine, sine }. A page of
// one layer holds [KV head][token][head dimension] halves.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_rope(const uint16_t* qkv, const float2* angles, const unsigned* positions, const unsigned* pages,
                     uint16_t* q, uint16_t* k, uint16_t* v, uint16_t* keyPages, uint16_t* valuePages, unsigned heads,
                     unsigned kvHeads, unsigned dimension, unsigned rowsPerSequence, unsigned firstSequence,
                     unsigned pagesPerSequence) {
  begin_next_grid();
  wait_for_previous_grid();
  const unsigned row = blockIdx.x, half = dimension / 2;
  const unsigned position = positions[row % rowsPerSequence];
  const unsigned sequence = firstSequence + row / rowsPerSequence;
  const size_t page = pages[static_cast<size_t>(sequence) * pagesPerSequence + position / kPageTokens];
  const uint16_t* from = qkv + static_cast<size_t>(row) * (heads + 2 * kvHeads) * dimension;
  for (unsigned i = threadIdx.x; i < (heads + 2 * kvHeads) * half; i += blockDim.x) {
    const unsigned head = i / half, d = i % half;
    const uint32_t first = from[head * dimension + d], second = from[head * dimension + half + d];
    uint32_t turned = first | second << 16;
    if (head < heads + kvHeads) turned = turned_pair(first, second, angles[static_cast<size_t>(position) * half + d]);
    uint16_t* to = q + (static_cast<size_t>(row) * heads + head) * dimension;
    if (head >= heads) {
      const bool isKey = head < heads + kvHeads;
      const unsigned kvHead = head - heads - (isKey ? 0 : kvHeads);
      uint16_t* copy = isKey ? k : v;
      to = (isKey ? keyPages : valuePages) +
           ((page * kvHeads + kvHead) * kPageTokens + position % kPageTokens) * dimension;
      if (copy != nullptr) {
        copy += (static_cast<size_t>(row) * kvHeads + kvHead) * dimension;
        copy[d] = static_cast<uint16_t>(turned);
        copy[half + d] = static_cast<uint16_t>(turned >> 16);
      }
    }
    to[d] = static_cast<uint16_t>(turned);
    to[half + d] = static_cast<uint16_t>(turned >> 16);
  }
}

namespace gvb_decoder {

constexpr unsigned kAttentionWarps = 4;
constexpr float kMinusInfinity = -__builtin_huge_valf();

// Bypasses L1, because this kernel writes the newest token's.
__device__ __forceinline__ uint4 load_words(const uint16_t* from) {
  return __ldcg(reinterpret_cast<const uint4*>(from));
}

template <unsigned D>
struct PageOfKeys {
  uint4 words[2][D / 32];  // of token lane / 4 and the token 8 later
};
template <unsigned D>
struct PageOfValues {
  uint4 words[4][D / 64];  // of tokens 2t, 2t + 1, 2t + 8, 2t + 9, where t = lane % 4
};

// A tensor core multiplies matching elements of k, whichever they are: each lane loads 16 adjacent bytes of a row for
// both factors, so nothing needs shared memory.
template <unsigned D>
__device__ __forceinline__ void load_keys(PageOfKeys<D>& keys, const uint16_t* page, unsigned lane) {
#pragma unroll
  for (unsigned half = 0; half < 2; ++half)
#pragma unroll
    for (unsigned j = 0; j < D / 32; ++j)
      keys.words[half][j] = load_words(page + (half * 8 + lane / 4) * D + j * 32 + lane % 4 * 8);
}

template <unsigned D>
__device__ __forceinline__ void load_values(PageOfValues<D>& values, const uint16_t* page, unsigned lane) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned j = 0; j < D / 64; ++j)
      values.words[i][j] = load_words(page + (i / 2 * 8 + lane % 4 * 2 + i % 2) * D + j * 64 + lane / 4 * 8);
}

// Clears what lies after the sequence's end: it was never written, and even a weight of 0 does not cancel a NaN.
template <unsigned D>
__device__ __forceinline__ void clear_values(PageOfValues<D>& values, unsigned tokens, unsigned lane) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    if (i / 2 * 8 + lane % 4 * 2 + i % 2 >= tokens)
#pragma unroll
      for (unsigned j = 0; j < D / 64; ++j) values.words[i][j] = uint4{0, 0, 0, 0};
}

__device__ __forceinline__ uint32_t word_of(const uint4& words, unsigned i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// Packs one half each of two words: the halves at `place`.
__device__ __forceinline__ uint32_t paired(uint32_t a, uint32_t b, unsigned place) {
  return place == 0 ? (a & 0xffffu) | b << 16 : a >> 16 | (b & 0xffff0000u);
}

__device__ __forceinline__ void turn_two(uint32_t& first, uint32_t& second, const float2* angles) {
  const uint32_t low = turned_pair(first & 0xffffu, second & 0xffffu, angles[0]);
  const uint32_t high = turned_pair(first >> 16, second >> 16, angles[1]);
  first = paired(low, high, 0);
  second = paired(low, high, 1);
}

// Rotates eight elements of each half of a head.
__device__ __forceinline__ void turn_eight(uint4& first, uint4& second, const float2* angles) {
  turn_two(first.x, second.x, angles);
  turn_two(first.y, second.y, angles + 2);
  turn_two(first.z, second.z, angles + 4);
  turn_two(first.w, second.w, angles + 6);
}

// One warp's state for the query heads of one KV head: the softmax so far, in powers of two. The lane's head is lane /
// 4.
template <unsigned D>
struct Attending {
  float sums[D / 8][4];  // tile i of 64 values: dimensions 8 (2 t) + i and 8 (2 t + 1) + i
  float largest, weight;
  uint32_t query[D / 16][2];

  // `angles` of the query's position; null: it is already rotated.
  __device__ __forceinline__ void begin(const uint16_t* head, const float2* angles, bool isUsed, unsigned lane) {
#pragma unroll
    for (unsigned j = 0; j < D / 64; ++j) {
      const unsigned d = j * 32 + lane % 4 * 8;
      uint4 first = uint4{0, 0, 0, 0}, second = first;
      if (isUsed) {
        first = load_words(head + d);
        second = load_words(head + D / 2 + d);
        if (angles != nullptr) turn_eight(first, second, angles + d);
      }
      set_query(j, first);
      set_query(j + D / 64, second);
    }
#pragma unroll
    for (unsigned i = 0; i < D / 8; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
    largest = kMinusInfinity;
    weight = 0;
  }

  __device__ __forceinline__ void set_query(unsigned j, const uint4& words) {
    query[2 * j][0] = words.x;
    query[2 * j][1] = words.y;
    query[2 * j + 1][0] = words.z;
    query[2 * j + 1][1] = words.w;
  }

  // Computes the scores of `tokens` keys, then adds their values.
  __device__ __forceinline__ void page(const PageOfKeys<D>& keys, const PageOfValues<D>& values, unsigned tokens,
                                       float scale, unsigned lane) {
    float scores[2][4] = {};
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
#pragma unroll
      for (unsigned j = 0; j < D / 32; ++j) {
        const uint4& words = keys.words[half][j];
        add_product(scores[half], query[2 * j][0], query[2 * j][1], words.x, words.y);
        add_product(scores[half], query[2 * j + 1][0], query[2 * j + 1][1], words.z, words.w);
      }
    float most = largest;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      float& score = scores[i / 2][i % 2];
      score = i / 2 * 8 + lane % 4 * 2 + i % 2 < tokens ? score * scale : kMinusInfinity;
      most = fmaxf(most, score);
    }
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
    if (__any_sync(0xffffffffu, most > largest)) rescale(most);
    const float p0 = power_of_two(scores[0][0] - most), p1 = power_of_two(scores[0][1] - most);
    const float p2 = power_of_two(scores[1][0] - most), p3 = power_of_two(scores[1][1] - most);
    weight += p0 + p1 + p2 + p3;
    add(values, pack<F16>(p0, p1), pack<F16>(p2, p3));
  }

 private:
  __device__ __forceinline__ void rescale(float most) {
    const float factor = power_of_two(largest - most);
    largest = most;
    weight *= factor;
#pragma unroll
    for (unsigned i = 0; i < D / 8; ++i) {
      sums[i][0] *= factor;
      sums[i][1] *= factor;
    }
  }

  __device__ __forceinline__ void add(const PageOfValues<D>& values, uint32_t low, uint32_t high) {
#pragma unroll
    for (unsigned j = 0; j < D / 64; ++j)
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        const uint32_t b0 = paired(word_of(values.words[0][j], i / 2), word_of(values.words[1][j], i / 2), i % 2);
        const uint32_t b1 = paired(word_of(values.words[2][j], i / 2), word_of(values.words[3][j], i / 2), i % 2);
        add_product(sums[j * 8 + i], low, high, b0, b1);
      }
  }
};

struct AttentionParameters {
  const uint16_t* q;
  const uint16_t* qkv;
  const float2* angles;
  uint16_t* keyPages;
  uint16_t* valuePages;
  const unsigned* pages;
  const unsigned* position;
  float* partial;
  unsigned* arrived;
  uint16_t* out;
  unsigned heads, kvHeads, pagesPerSequence;
  float scale;
};

// What a part of the context stores for a head before its sums: the largest score in powers of two, the sum of the
// weights, and a gap, so that sums can be read four at a time.
constexpr unsigned kAhead = 4;

// Writes the newest token's rotated key and its value to their place in the cache.
template <unsigned D>
__device__ __forceinline__ void append(const AttentionParameters& p, unsigned kvHead, unsigned row, unsigned position,
                                       size_t place) {
  const uint16_t* key = p.qkv + (static_cast<size_t>(row) * (p.heads + 2 * p.kvHeads) + p.heads + kvHead) * D;
  const uint16_t* value = key + static_cast<size_t>(p.kvHeads) * D;
  for (unsigned d = threadIdx.x; d < D / 2; d += blockDim.x) {
    const uint32_t pair = turned_pair(__ldcg(key + d), __ldcg(key + D / 2 + d), p.angles[d]);
    p.keyPages[place + position % kPageTokens * D + d] = static_cast<uint16_t>(pair);
    p.keyPages[place + position % kPageTokens * D + D / 2 + d] = static_cast<uint16_t>(pair >> 16);
    p.valuePages[place + position % kPageTokens * D + d] = __ldcg(value + d);
    p.valuePages[place + position % kPageTokens * D + D / 2 + d] = __ldcg(value + D / 2 + d);
  }
  __syncthreads();
}

// True for the last block of a row and KV head to arrive: it can then read all parts of the context.
__device__ __forceinline__ bool is_last_part(unsigned* arrived) {
  __shared__ unsigned last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (last != 0) *arrived = 0;
  }
  __syncthreads();
  __threadfence();
  return last != 0;
}

// out = sums / weights over all parts of the context, for `group` adjacent heads.
template <unsigned D>
__device__ __forceinline__ void merge_parts(const float* partial, uint16_t* out, unsigned group) {
  const unsigned splits = gridDim.x;
  for (unsigned i = threadIdx.x; i < group * D / 4; i += blockDim.x) {
    const float* parts = partial + static_cast<size_t>(i / (D / 4)) * splits * (D + kAhead);
    const unsigned d = i % (D / 4) * 4;
    float most = kMinusInfinity, weight = 0, x = 0, y = 0, z = 0, w = 0;
#pragma unroll 8
    for (unsigned split = 0; split < splits; ++split) most = fmaxf(most, __ldcg(parts + split * (D + kAhead)));
#pragma unroll 8
    for (unsigned split = 0; split < splits; ++split) {
      const float4 ahead = __ldcg(reinterpret_cast<const float4*>(parts + split * (D + kAhead)));
      const float4 sums = __ldcg(reinterpret_cast<const float4*>(parts + split * (D + kAhead) + kAhead + d));
      const float factor = ahead.y == 0 ? 0 : power_of_two(ahead.x - most);
      weight += factor * ahead.y;
      x += factor * sums.x;
      y += factor * sums.y;
      z += factor * sums.z;
      w += factor * sums.w;
    }
    *reinterpret_cast<uint2*>(out + i / (D / 4) * D + d) = {pack<F16>(x / weight, y / weight),
                                                            pack<F16>(z / weight, w / weight)};
  }
}

struct Part {
  unsigned begin, end;  // in pages
};

__device__ __forceinline__ Part part_of(unsigned tokens) {
  const unsigned used = (tokens + kPageTokens - 1) / kPageTokens, each = (used + gridDim.x - 1) / gridDim.x;
  return {blockIdx.x * each, min(blockIdx.x * each + each, used)};
}

// More would be evicted from the L2 cache before it is used, and be read twice.
constexpr unsigned long long kMostPrefetched = 16ull << 20;

// Prefetches into L2 what this block will read, while the previous grid still runs. Only a hint: the position is read
// again once that grid has ended.
template <unsigned D>
__device__ __forceinline__ void prefetch_part(const AttentionParameters& p, const unsigned* pages, size_t inPage) {
  constexpr unsigned kLine = 128, kLinesOfPage = kPageTokens * D * 2 / kLine;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned position = min(__ldcg(p.position), p.pagesPerSequence * kPageTokens - 1);
  const unsigned long long tokens = static_cast<unsigned long long>(position + 1) * gridDim.y * gridDim.z;
  if (tokens * D * 2 * 2 > kMostPrefetched) return;
  const Part part = part_of(position + 1);
  for (unsigned at = part.begin + threadIdx.x / kWarp; at < part.end; at += kAttentionWarps) {
    const size_t place = pages[at] * (static_cast<size_t>(p.kvHeads) * kPageTokens * D) + inPage;
    if (lane >= kLinesOfPage) continue;
    prefetch_line(p.keyPages + place + lane * (kLine / 2));
    prefetch_line(p.valuePages + place + lane * (kLine / 2));
  }
  if (p.qkv != nullptr && threadIdx.x < D / 2 * sizeof(float2) / kLine)
    prefetch_line(p.angles + static_cast<size_t>(position) * (D / 2) + threadIdx.x * (kLine / sizeof(float2)));
}

// Block (split, KV head, row) attends to its part of the context; partial[row][head][split] = { largest score, sum of
// weights, gap, D sums of weighted values }. A part without tokens has weights of 0. The last block of a row and KV
// head combines them into out[row][head].
template <unsigned D>
__device__ __forceinline__ void attend(AttentionParameters p) {
  __shared__ float merged[kAttentionWarps][kMostGroup][D];
  __shared__ float bounds[kAttentionWarps][kMostGroup][2];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned split = blockIdx.x, splits = gridDim.x, kvHead = blockIdx.y, row = blockIdx.z;
  const unsigned group = p.heads / p.kvHeads;
  const unsigned* pages = p.pages + static_cast<size_t>(row) * p.pagesPerSequence;
  const size_t pageValues = static_cast<size_t>(p.kvHeads) * kPageTokens * D;
  const size_t inPage = static_cast<size_t>(kvHead) * kPageTokens * D;
  begin_next_grid();
  prefetch_part<D>(p, pages, inPage);
  wait_for_previous_grid();
  const unsigned position = __ldcg(p.position), length = position + 1, newest = position / kPageTokens;
  const Part part = part_of(length);
  const unsigned end = part.end;
  const size_t firstHead = static_cast<size_t>(row) * p.heads + kvHead * group;

  if (p.qkv != nullptr) {
    p.angles += static_cast<size_t>(position) * (D / 2);
    p.q = p.qkv + static_cast<size_t>(row) * 2 * p.kvHeads * D;  // qkv's rows are longer than q's
    if (part.begin <= newest && newest < end) append<D>(p, kvHead, row, position, pages[newest] * pageValues + inPage);
  }
  Attending<D> state;
  state.begin(p.q + (firstHead + lane / 4) * D, p.qkv == nullptr ? nullptr : p.angles, lane / 4 < group, lane);
  PageOfKeys<D> keys;
  PageOfValues<D> values;
  unsigned at = part.begin + warp;
  size_t place = 0;
  if (at < end) {
    place = pages[at] * pageValues + inPage;
    load_keys<D>(keys, p.keyPages + place, lane);
  }
  // Loads the next page's keys while this one's values are added.
  while (at < end) {
    load_values<D>(values, p.valuePages + place, lane);
    const PageOfKeys<D> here = keys;
    const unsigned tokens = min(length - at * kPageTokens, kPageTokens);
    at += kAttentionWarps;
    if (at < end) {
      place = pages[at] * pageValues + inPage;
      load_keys<D>(keys, p.keyPages + place, lane);
    }
    if (tokens < kPageTokens) clear_values<D>(values, tokens, lane);
    state.page(here, values, tokens, p.scale, lane);
  }
  state.weight += __shfl_xor_sync(0xffffffffu, state.weight, 1);
  state.weight += __shfl_xor_sync(0xffffffffu, state.weight, 2);
  const unsigned head = lane / 4;
#pragma unroll
  for (unsigned i = 0; i < D / 8; ++i) {
    const unsigned first = i / 8 * 64 + lane % 4 * 16 + i % 8;
    merged[warp][head][first] = state.sums[i][0];
    merged[warp][head][first + 8] = state.sums[i][1];
  }
  if (lane % 4 == 0) {
    bounds[warp][head][0] = state.largest;
    bounds[warp][head][1] = state.weight;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < group * D; i += blockDim.x) {
    const unsigned of = i / D, d = i % D;
    float most = kMinusInfinity, weight = 0, sum = 0;
    for (unsigned w = 0; w < kAttentionWarps; ++w) most = fmaxf(most, bounds[w][of][0]);
    for (unsigned w = 0; w < kAttentionWarps; ++w) {
      if (bounds[w][of][1] == 0) continue;
      const float factor = power_of_two(bounds[w][of][0] - most);
      weight += factor * bounds[w][of][1];
      sum += factor * merged[w][of][d];
    }
    float* out = p.partial + ((firstHead + of) * splits + split) * (D + kAhead);
    out[kAhead + d] = sum;
    if (d != 0) continue;
    out[0] = most;
    out[1] = weight;
  }
  if (!is_last_part(p.arrived + static_cast<size_t>(row) * p.kvHeads + kvHead)) return;
  merge_parts<D>(p.partial + firstHead * splits * (D + kAhead), p.out + firstHead * D, group);
}

}  // namespace gvb_decoder

#define GVB_DECODE_ATTENTION(D)                                                                               \
  extern "C" __global__ void __launch_bounds__(kAttentionWarps* kWarp) gvb_decoder_attention_##D(             \
      const uint16_t* q, const uint16_t* qkv, const float2* angles, uint16_t* keyPages, uint16_t* valuePages, \
      const unsigned* pages, const unsigned* position, float* partial, unsigned* arrived, uint16_t* out,      \
      unsigned heads, unsigned kvHeads, unsigned pagesPerSequence, float scale) {                             \
    attend<D>({q, qkv, angles, keyPages, valuePages, pages, position, partial, arrived, out, heads, kvHeads,  \
               pagesPerSequence, scale});                                                                     \
  }
// One token of each sequence, all at the same position. Either q holds the queries, and the cache the newest keys and
// values; or qkv holds all three as a product left them with angles[position][D / 2] = { cosine, sine }, and the kernel
// rotates the queries and keys and stores the newest keys and values in the cache. scale: factor of the scores, times
// the binary logarithm of e. arrived[row][KV head] is 0 between launches.
GVB_DECODE_ATTENTION(64)
GVB_DECODE_ATTENTION(128)

// out[row] = silu(gate[row]) · up[row], where gateUp[row] holds both. width is even.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_swiglu(const uint16_t* gateUp, uint16_t* out, unsigned width) {
  begin_next_grid();
  wait_for_previous_grid();
  const uint16_t* gate = gateUp + static_cast<size_t>(blockIdx.y) * 2 * width;
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (i >= width) return;
  const float2 g = unpack<F16>(*reinterpret_cast<const uint32_t*>(gate + i));
  const float2 u = unpack<F16>(*reinterpret_cast<const uint32_t*>(gate + width + i));
  const auto silu = [](float x) { return x / (1.0f + __expf(-x)); };
  *reinterpret_cast<uint32_t*>(out + static_cast<size_t>(blockIdx.y) * width + i) =
      pack<F16>(silu(g.x) * u.x, silu(g.y) * u.y);
}

// Block (part, row): the largest logit in its part of the vocabulary, and a checksum of all their bits. A logit that is
// not finite counts as the largest. count is even.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_pick(const uint16_t* logits, unsigned count, Candidate* candidates) {
  begin_next_grid();
  wait_for_previous_grid();
  __shared__ Candidate scratch[256 / kWarp];
  const uint16_t* row = logits + static_cast<size_t>(blockIdx.y) * count;
  Candidate mine = {0, 0};
  for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 2; i < count; i += gridDim.x * blockDim.x * 2) {
    const uint32_t pair = *reinterpret_cast<const uint32_t*>(row + i);
    const float2 values = unpack<F16>(pair);
    mine.key = larger(mine.key, larger(key_of(values.x, i), key_of(values.y, i + 1)));
    mine.checksum += static_cast<unsigned long long>(pair) * (2 * i + 0x9e3779b97f4a7c15ull);
  }
  const Candidate best = best_of_block(mine, scratch);
  if (threadIdx.x == 0) candidates[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = best;
}

// Makes the token of every row (0xffffffff: its logits are not finite) the next step's input and shows it to the host:
// words[0] = steps so far; for step s, from words[2 + (s % kept) * (2 + rows)] on, the checksum of its logits (two
// words) and its tokens. state = { position, steps }: the position advances by `advance`. One block.
extern "C" __global__ void __launch_bounds__(256)
    gvb_decoder_publish(const Candidate* candidates, unsigned parts, unsigned rows, unsigned advance, unsigned* tokens,
                        unsigned* state, volatile unsigned* words, unsigned kept) {
  begin_next_grid();
  wait_for_previous_grid();
  __shared__ Candidate scratch[256 / kWarp];
  const unsigned step = state[1];
  volatile unsigned* record = words + 2 + static_cast<size_t>(step % kept) * (2 + rows);
  unsigned long long checksum = 0;
  for (unsigned row = 0; row < rows; ++row) {
    Candidate mine = {0, 0};
    for (unsigned i = threadIdx.x; i < parts; i += blockDim.x) {
      const Candidate other = candidates[static_cast<size_t>(row) * parts + i];
      mine.key = larger(mine.key, other.key);
      mine.checksum += other.checksum;
    }
    const Candidate best = best_of_block(mine, scratch);
    checksum = checksum * 0x9e3779b97f4a7c15ull + best.checksum;
    if (threadIdx.x != 0) continue;
    const bool isFinite = best.key != kNotFinite;
    const unsigned token = isFinite ? 0xffffffffu - static_cast<unsigned>(best.key) : 0xffffffffu;
    tokens[row] = isFinite ? token : 0;
    record[2 + row] = token;
  }
  if (threadIdx.x != 0) return;
  record[0] = static_cast<unsigned>(checksum);
  record[1] = static_cast<unsigned>(checksum >> 32);
  state[0] += advance;
  state[1] = step + 1;
  __threadfence_system();
  words[0] = step + 1;
}
