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

// Bypasses L1, which may hold data from before the previous grid's writes.
__device__ __forceinline__ uint4 load_words(const uint16_t* from) {
  return __ldcg(reinterpret_cast<const uint4*>(from));
}

// The same for keys and values of the cache, which are read once.
__device__ __forceinline__ uint4 load_cached(const uint16_t* from) {
  return load_current_once_16(reinterpret_cast<const uint4*>(from));
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
      keys.words[half][j] = load_cached(page + (half * 8 + lane / 4) * D + j * 32 + lane % 4 * 8);
}

template <unsigned D>
__device__ __forceinline__ void load_values(PageOfValues<D>& values, const uint16_t* page, unsigned lane) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned j = 0; j < D / 64; ++j)
      values.words[i][j] = load_cached(page + (i / 2 * 8 + lane % 4 * 2 + i % 2) * D + j * 64 + lane / 4 * 8);
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
// 4, except in the sums, where dimensions are rows and heads columns of the tile: a tile has dimensions d and d + 1 of
// heads 2t and 2t + 1, where t = lane % 4, as { d of 2t, d of 2t + 1, d + 1 of 2t, d + 1 of 2t + 1 }; for d see
// dimension_of.
template <unsigned D>
struct Attending {
  float sums[D / 16][4];
  float largest, weight;
  uint32_t query[D / 16][2];

  static __device__ __forceinline__ unsigned dimension_of(unsigned tile, unsigned lane) {
    return tile / 4 * 64 + lane / 4 * 8 + tile % 4 * 2;
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (unsigned i = 0; i < D / 16; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
    largest = kMinusInfinity;
    weight = 0;
  }

  // `angles`: to rotate it by; nullptr if it is rotated.
  __device__ __forceinline__ void load_query(const uint16_t* head, const float2* angles, bool isUsed, unsigned lane) {
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
    if (__any_sync(0xffffffffu, most > largest)) rescale(most, lane);
    const float p0 = power_of_two(scores[0][0] - most), p1 = power_of_two(scores[0][1] - most);
    const float p2 = power_of_two(scores[1][0] - most), p3 = power_of_two(scores[1][1] - most);
    weight += p0 + p1 + p2 + p3;
    add(values, pack<F16>(p0, p1), pack<F16>(p2, p3));
  }

  // Factors of heads 2t and 2t + 1.
  __device__ __forceinline__ void scale_sums(float even, float odd) {
#pragma unroll
    for (unsigned i = 0; i < D / 16; ++i) {
      sums[i][0] *= even;
      sums[i][1] *= odd;
      sums[i][2] *= even;
      sums[i][3] *= odd;
    }
  }

 private:
  __device__ __forceinline__ void rescale(float most, unsigned lane) {
    const float factor = power_of_two(largest - most);
    largest = most;
    weight *= factor;
    scale_sums(__shfl_sync(0xffffffffu, factor, lane % 4 * 8), __shfl_sync(0xffffffffu, factor, lane % 4 * 8 + 4));
  }

  __device__ __forceinline__ void add(const PageOfValues<D>& values, uint32_t low, uint32_t high) {
#pragma unroll
    for (unsigned j = 0; j < D / 64; ++j)
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        const uint32_t of[4] = {word_of(values.words[0][j], i), word_of(values.words[1][j], i),
                                word_of(values.words[2][j], i), word_of(values.words[3][j], i)};
        const uint32_t a[4] = {paired(of[0], of[1], 0), paired(of[0], of[1], 1), paired(of[2], of[3], 0),
                               paired(of[2], of[3], 1)};
        multiply_add<F16>(sums[j * 4 + i], a, low, high);
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
  unsigned heads, kvHeads, pagesPerSequence, rows;
  float scale;
};

// What a part of the context stores for a head before its sums: the largest score in powers of two, the sum of the
// weights, and a gap, so that sums can be read four at a time.
constexpr unsigned kAhead = 4;

// Puts the newest token's rotated key and its value, from a product's result, into the page of the warp that attends to
// it, and into the cache for later steps. `place`: the page's in the cache.
template <unsigned D>
__device__ __forceinline__ void append(const AttentionParameters& p, const uint16_t* key, unsigned token, size_t place,
                                       const float2* angles, unsigned lane, PageOfKeys<D>& keys,
                                       PageOfValues<D>& values) {
  const uint16_t* value = key + static_cast<size_t>(p.kvHeads) * D;
  const size_t at = place + token * D;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    if (i / 2 * 8 + lane % 4 * 2 + i % 2 == token)
#pragma unroll
      for (unsigned j = 0; j < D / 64; ++j) {
        const unsigned d = j * 64 + lane / 4 * 8;
        values.words[i][j] = load_words(value + d);
        *reinterpret_cast<uint4*>(p.valuePages + at + d) = values.words[i][j];
      }
#pragma unroll
  for (unsigned half = 0; half < 2; ++half)
    if (half * 8 + lane / 4 == token)
#pragma unroll
      for (unsigned j = 0; j < D / 64; ++j) {
        const unsigned d = j * 32 + lane % 4 * 8;
        uint4 first = load_words(key + d), second = load_words(key + D / 2 + d);
        turn_eight(first, second, angles + d);
        keys.words[half][j] = first;
        keys.words[half][j + D / 64] = second;
        *reinterpret_cast<uint4*>(p.keyPages + at + d) = first;
        *reinterpret_cast<uint4*>(p.keyPages + at + D / 2 + d) = second;
      }
  __syncwarp();
}

constexpr unsigned kHeadsAtOnce = 4;  // that a block's warps add up

// What a block's warps tell each other. Between two writes of the same place, all have passed a barrier after its last
// read.
template <unsigned D>
struct alignas(16) Exchange {
  float sums[kHeadsAtOnce][kAttentionWarps][D];
  float2 bounds[kAttentionWarps][kMostGroup];  // largest score, and sum of weights
  unsigned isLast;
};

// True for the last of `parts` blocks of a row and KV head to arrive: it can then read all parts of the context.
__device__ __forceinline__ bool is_last_part(unsigned* arrived, unsigned parts, unsigned& isLast) {
  __syncthreads();
  if (threadIdx.x == 0) {
    isLast = add_ordered(arrived, 1) == parts - 1 ? 1 : 0;
    if (isLast != 0) *arrived = 0;
  }
  __syncthreads();
  return isLast != 0;
}

// out = sums / weights over `count` parts of the context, for `group` adjacent heads, `stride` numbers apart. Loads of
// several parts do not wait for each other.
template <unsigned D>
__device__ __forceinline__ void merge_parts(const float* partial, size_t stride, unsigned count, uint16_t* out,
                                            unsigned group) {
  constexpr unsigned kAtOnce = 12;
  for (unsigned i = threadIdx.x; i < group * D / 4; i += blockDim.x) {
    const float* parts = partial + i / (D / 4) * stride;
    const unsigned d = i % (D / 4) * 4;
    float most = kMinusInfinity, weight = 0, x = 0, y = 0, z = 0, w = 0;
    for (unsigned begin = 0; begin < count; begin += kAtOnce) {
      float2 ahead[kAtOnce];
      float4 sums[kAtOnce];
#pragma unroll
      for (unsigned j = 0; j < kAtOnce; ++j) {
        ahead[j] = {kMinusInfinity, 0};
        sums[j] = {0, 0, 0, 0};
        if (begin + j >= count) continue;
        const float* part = parts + (begin + j) * (D + kAhead);
        ahead[j] = __ldcg(reinterpret_cast<const float2*>(part));
        sums[j] = __ldcg(reinterpret_cast<const float4*>(part + kAhead + d));
      }
      float higher = most;
#pragma unroll
      for (unsigned j = 0; j < kAtOnce; ++j) higher = fmaxf(higher, ahead[j].x);
      const float before = weight == 0 ? 0 : power_of_two(most - higher);
      most = higher;
      weight *= before;
      x *= before;
      y *= before;
      z *= before;
      w *= before;
#pragma unroll
      for (unsigned j = 0; j < kAtOnce; ++j) {
        const float factor = ahead[j].y == 0 ? 0 : power_of_two(ahead[j].x - most);
        weight += factor * ahead[j].y;
        x += factor * sums[j].x;
        y += factor * sums[j].y;
        z += factor * sums[j].z;
        w += factor * sums[j].w;
      }
    }
    *reinterpret_cast<uint2*>(out + i / (D / 4) * D + d) = {pack<F16>(x / weight, y / weight),
                                                            pack<F16>(z / weight, w / weight)};
  }
}

// Equal parts of the pages of all rows, one row after the other; none of them is empty.
struct Splits {
  unsigned used, count;  // pages of a row, and splits
  unsigned long long total;

  __device__ __forceinline__ Splits(unsigned tokens, unsigned rows)
      : used((tokens + kPageTokens - 1) / kPageTokens), total(static_cast<unsigned long long>(rows) * used) {
    count = static_cast<unsigned>(total < gridDim.y ? total : gridDim.y);
  }

  // Splits that do not exist begin where all pages end.
  __device__ __forceinline__ unsigned begin_of(unsigned split) const {
    return static_cast<unsigned>(min(split, count) * total / count);
  }

  __device__ __forceinline__ unsigned of_page(unsigned page) const {
    return static_cast<unsigned>(((page + 1ull) * count - 1) / total);
  }
};

// Numbers of pages, which are counted over all rows and asked for in ascending order; divides only at a row's begin.
struct PageNumbers {
  const unsigned* numbers;
  unsigned rowEnd = 0;

  __device__ __forceinline__ unsigned of(unsigned page, const AttentionParameters& p, unsigned used) {
    if (page >= rowEnd) {
      const unsigned row = page / used;
      numbers = p.pages + static_cast<size_t>(row) * (p.pagesPerSequence - used);
      rowEnd = (row + 1) * used;
    }
    return numbers[page];
  }
};

// More would be evicted from the L2 cache before it is used, and be read twice.
constexpr unsigned long long kMostPrefetched = 16ull << 20;

// Prefetches into L2 what a warp will read after its first page, while the previous grid still runs.
template <unsigned D>
__device__ __forceinline__ void prefetch_pages(const AttentionParameters& p, PageNumbers numbers, const Splits& splits,
                                               unsigned page, unsigned end) {
  constexpr unsigned kLine = 128, kLinesOfPage = kPageTokens * D * 2 / kLine;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned long long pages = splits.total * p.kvHeads;
  if (pages * (kPageTokens * D * 2 * 2) > kMostPrefetched || lane >= kLinesOfPage) return;
  for (; page < end; page += kAttentionWarps) {
    const size_t place =
        (static_cast<size_t>(numbers.of(page, p, splits.used)) * p.kvHeads + blockIdx.x) * (kPageTokens * D);
    prefetch_line(p.keyPages + place + lane * (kLine / 2));
    prefetch_line(p.valuePages + place + lane * (kLine / 2));
  }
}

// Stores the block's part of a row, in a fixed order of its warps: of each head, `stride` numbers apart, { largest
// score, sum of weights, gap, D sums of weighted values }, or the result, if `out` is given because the part is the
// whole context.
template <unsigned D>
__device__ __forceinline__ void store_part(Attending<D>& state, Exchange<D>& exchange, float* partial, size_t stride,
                                           uint16_t* out, unsigned group) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  if (lane % 4 == 0) exchange.bounds[warp][lane / 4] = {state.largest, state.weight};
  __syncthreads();
  const auto most_of = [&](unsigned head) {
    float most = kMinusInfinity;
    for (unsigned w = 0; w < kAttentionWarps; ++w) most = fmaxf(most, exchange.bounds[w][head].x);
    return most;
  };
  const auto factor_of = [&](unsigned of, unsigned head, float most) {
    const float2 its = exchange.bounds[of][head];
    return its.y == 0 ? 0 : power_of_two(its.x - most);
  };
  const auto weight_of = [&](unsigned head, float most) {
    float weight = 0;
    for (unsigned w = 0; w < kAttentionWarps; ++w) weight += factor_of(w, head, most) * exchange.bounds[w][head].y;
    return weight;
  };
  const auto scale_of = [&](unsigned head) {
    const float most = most_of(head), factor = factor_of(warp, head, most);
    return out == nullptr ? factor : factor / weight_of(head, most);
  };
  const unsigned even = lane % 4 * 2;
  state.scale_sums(scale_of(even), scale_of(even + 1));
  if (out == nullptr && threadIdx.x < group) {
    const float most = most_of(threadIdx.x);
    *reinterpret_cast<float2*>(partial + threadIdx.x * stride) = {most, weight_of(threadIdx.x, most)};
  }
  for (unsigned first = 0; first < group; first += kHeadsAtOnce) {
    if (first > 0) __syncthreads();
    if (even / kHeadsAtOnce == first / kHeadsAtOnce)
#pragma unroll
      for (unsigned i = 0; i < D / 16; ++i) {
        const unsigned d = state.dimension_of(i, lane);
        *reinterpret_cast<float2*>(&exchange.sums[even - first][warp][d]) = {state.sums[i][0], state.sums[i][2]};
        *reinterpret_cast<float2*>(&exchange.sums[even - first + 1][warp][d]) = {state.sums[i][1], state.sums[i][3]};
      }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < min(kHeadsAtOnce, group - first) * D / 4; i += blockDim.x) {
      const unsigned head = i / (D / 4), d = i % (D / 4) * 4;
      float4 sum = {0, 0, 0, 0};
      for (unsigned w = 0; w < kAttentionWarps; ++w) {
        const float4 its = *reinterpret_cast<const float4*>(&exchange.sums[head][w][d]);
        sum = {sum.x + its.x, sum.y + its.y, sum.z + its.z, sum.w + its.w};
      }
      if (out == nullptr)
        *reinterpret_cast<float4*>(partial + (first + head) * stride + kAhead + d) = sum;
      else
        *reinterpret_cast<uint2*>(out + (first + head) * D + d) = {pack<F16>(sum.x, sum.y), pack<F16>(sum.z, sum.w)};
    }
  }
}

// Block (KV head, split) attends to its split of the pages of all rows. Blocks of all KV heads walk through the same
// pages at the same time, so that DRAM is read where it has just been read: the heads of a page are beside each other.
// partial[row][head][part] is what store_part stores of a row that has several splits; the last block of such a row and
// KV head combines them into out[row][head].
//
// Only q and qkv are awaited. The position and the keys and values of older tokens were written by earlier steps and
// the prompt: the host submits a step after it has seen the previous one's token, and a token is published by the last
// kernel of its step, after all others have ended.
template <unsigned D>
__device__ __forceinline__ void attend(AttentionParameters p) {
  __shared__ Exchange<D> exchange;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned kvHead = blockIdx.x, split = blockIdx.y, group = p.heads / p.kvHeads;
  const bool appends = p.qkv != nullptr;
  begin_next_grid();
  const unsigned position = __ldcg(p.position), length = position + 1;
  const Splits splits(length, p.rows);
  const unsigned begin = splits.begin_of(split), end = splits.begin_of(split + 1);
  const float2* angles = appends ? p.angles + static_cast<size_t>(position) * (D / 2) : nullptr;
  PageOfKeys<D> keys;
  PageOfValues<D> values;
  PageNumbers numbers;
  unsigned at = begin + warp, next = 0;  // this page's index and the next one's number
  size_t place = 0;
  const auto load = [&](unsigned number) {
    place = (static_cast<size_t>(number) * p.kvHeads + kvHead) * (kPageTokens * D);
    load_keys<D>(keys, p.keyPages + place, lane);
  };
  const auto find_next = [&] {
    if (at + kAttentionWarps < end) next = numbers.of(at + kAttentionWarps, p, splits.used);
  };
  if (at < end) {
    load(numbers.of(at, p, splits.used));
    load_values<D>(values, p.valuePages + place, lane);
    prefetch_pages<D>(p, numbers, splits, at + kAttentionWarps, end);
    find_next();
  }
  wait_for_previous_grid();
  if (begin == end) return;

  const unsigned firstRow = begin / splits.used, lastRow = (end - 1) / splits.used;
  bool isFirst = true;
  // Rows have at most so many parts.
  const size_t stride = static_cast<size_t>((gridDim.y + p.rows - 1) / p.rows + 1) * (D + kAhead);
  for (unsigned row = firstRow; row <= lastRow; ++row) {
    const unsigned rowBegin = row * splits.used, newest = rowBegin + splits.used - 1, rowEnd = min(end, newest + 1);
    const size_t firstHead = static_cast<size_t>(row) * p.heads + kvHead * group;
    const uint16_t* fromProduct = p.qkv + static_cast<size_t>(row) * (p.heads + 2 * p.kvHeads) * D;
    const uint16_t* queries = appends ? fromProduct + static_cast<size_t>(kvHead) * group * D : p.q + firstHead * D;
    Attending<D> state;
    state.clear();
    state.load_query(queries + lane / 4 * D, angles, lane / 4 < group, lane);
    // Loads the next page's keys while this one's values are added, also across rows.
    for (; at < rowEnd; isFirst = false) {
      if (!isFirst) load_values<D>(values, p.valuePages + place, lane);
      if (appends && at == newest)
        append<D>(p, fromProduct + static_cast<size_t>(p.heads + kvHead) * D, position % kPageTokens, place, angles,
                  lane, keys, values);
      const PageOfKeys<D> here = keys;
      const unsigned tokens = min(length - (at - rowBegin) * kPageTokens, kPageTokens);
      at += kAttentionWarps;
      if (at < end) {
        load(next);
        find_next();
      }
      if (tokens < kPageTokens) clear_values<D>(values, tokens, lane);
      state.page(here, values, tokens, p.scale, lane);
    }
    state.weight += __shfl_xor_sync(0xffffffffu, state.weight, 1);
    state.weight += __shfl_xor_sync(0xffffffffu, state.weight, 2);
    const unsigned firstSplit = splits.of_page(rowBegin), parts = splits.of_page(newest) - firstSplit + 1;
    float* partial = p.partial + firstHead * stride;
    uint16_t* out = p.out + firstHead * D;
    store_part<D>(state, exchange, partial + (split - firstSplit) * (D + kAhead), stride, parts == 1 ? out : nullptr,
                  group);
    if (parts > 1 && is_last_part(p.arrived + static_cast<size_t>(row) * p.kvHeads + kvHead, parts, exchange.isLast))
      merge_parts<D>(partial, stride, parts, out, group);
  }
}

}  // namespace gvb_decoder

#define GVB_DECODE_ATTENTION(D, ...)                                                                          \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) gvb_decoder_attention_##D(                        \
      const uint16_t* q, const uint16_t* qkv, const float2* angles, uint16_t* keyPages, uint16_t* valuePages, \
      const unsigned* pages, const unsigned* position, float* partial, unsigned* arrived, uint16_t* out,      \
      unsigned heads, unsigned kvHeads, unsigned pagesPerSequence, unsigned rows, float scale) {              \
    attend<D>({q, qkv, angles, keyPages, valuePages, pages, position, partial, arrived, out, heads, kvHeads,  \
               pagesPerSequence, rows, scale});                                                               \
  }
// One token of each sequence, all at the same position. Either q holds the queries, and the cache the newest keys and
// values; or qkv holds all three as a product left them with angles[position][D / 2] = { cosine, sine }, and the kernel
// rotates the queries and keys and stores the newest keys and values in the cache. scale: factor of the scores, times
// the binary logarithm of e. arrived[row][KV head] is 0 between launches.
// The host makes as many splits as fit at once: three blocks a multiprocessor with 64, two with 128, for which ptxas
// needs fewer registers if that is not asked for.
GVB_DECODE_ATTENTION(64, kAttentionWarps* kWarp, 3)
GVB_DECODE_ATTENTION(128, kAttentionWarps* kWarp)

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
