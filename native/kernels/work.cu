// Kernels of the work unit (OH-010), in a module of their own, so that the base module loads fast. Names are extern
// "C": the simulated driver executes them by name.

#include <mma.h>

// c = a · b of n × n matrices, row-major: half-precision factors, single-precision sums on tensor cores. n is a
// multiple of 64; a block of four warps computes 64 × 64 of c, each warp 32 × 32.
extern "C" __global__ void gvb_gemm(const __half* a, const __half* b, float* c, unsigned n) {
  namespace wmma = nvcuda::wmma;
  constexpr unsigned kTile = 16;
  const unsigned warp = threadIdx.x / 32;
  const unsigned row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& line : sums)
    for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);
  for (unsigned k = 0; k < n; k += kTile) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
    for (unsigned i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(left[i], a + static_cast<size_t>(row + i * kTile) * n + k, n);
      wmma::load_matrix_sync(right[i], b + static_cast<size_t>(k) * n + column + i * kTile, n);
    }
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
  }
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned j = 0; j < 2; ++j)
      wmma::store_matrix_sync(c + static_cast<size_t>(row + i * kTile) * n + column + j * kTile, sums[i][j], n,
                              wmma::mem_row_major);
}

// out = softmax(q kᵀ / 8) v for each head of `length` tokens of 64 values: one warp per query, two values per lane,
// with an online softmax. Each block handles one head.
extern "C" __global__ void gvb_attention(const float* q, const float* k, const float* v, float* out, unsigned length) {
  constexpr unsigned kWidth = 64, kWholeWarp = 0xffffffff;
  const size_t head = static_cast<size_t>(blockIdx.x) * length * kWidth;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned query = threadIdx.x / 32; query < length; query += blockDim.x / 32) {
    const size_t mine = head + query * kWidth + lane * 2;
    const float q0 = q[mine] * 0.125f, q1 = q[mine + 1] * 0.125f;
    float largest = -INFINITY, weights = 0, sum0 = 0, sum1 = 0;
    for (unsigned key = 0; key < length; ++key) {
      const size_t theirs = head + key * kWidth + lane * 2;
      float score = q0 * k[theirs] + q1 * k[theirs + 1];
      for (unsigned step = 16; step > 0; step /= 2) score += __shfl_xor_sync(kWholeWarp, score, step);
      const float now = fmaxf(largest, score);
      const float kept = __expf(largest - now), weight = __expf(score - now);
      weights = weights * kept + weight;
      sum0 = sum0 * kept + weight * v[theirs];
      sum1 = sum1 * kept + weight * v[theirs + 1];
      largest = now;
    }
    out[mine] = sum0 / weights;
    out[mine + 1] = sum1 / weights;
  }
}
