// Parameters of the kernel in decode_product.cuh that the host needs.
#pragma once

namespace gvb::decode_product {

constexpr unsigned kWarps = 8;  // multiply; one more loads
constexpr unsigned kThreads = 32 * (kWarps + 1);
constexpr unsigned kMostTokens = 8;
constexpr unsigned kRows = 8;           // rows of W at a time
constexpr unsigned kChunk = 1024;       // of K, at a time
constexpr unsigned kMostNormed = 4096;  // limit on K if the input is normalised
constexpr unsigned kLineBytes = kChunk * 2 + 64;
constexpr unsigned kStageBytes = kRows * kLineBytes;
constexpr unsigned kFewestStages = 3, kMostStages = 12;
// Barriers of the stages, and the warps' sums of squares and of products.
constexpr unsigned kFixedBytes = 2 * kMostStages * 8 + 2 * kWarps * 4 + 2 * kWarps * kMostTokens * kRows * 4;

// One token in shared memory.
constexpr unsigned line_bytes(unsigned k) { return k * 2 + 64; }
constexpr unsigned shared_bytes(unsigned m, unsigned k, unsigned stages) {
  return kFixedBytes + stages * kStageBytes + m * line_bytes(k);
}

}  // namespace gvb::decode_product
