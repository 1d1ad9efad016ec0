// Parameters of the kernels of skinny.cu and skinny_sm80.cuh that the host needs.
#pragma once

#include <cstddef>

namespace gvb {

struct SkinnyVariant {
  unsigned tokens;        // upper limit
  unsigned rows;          // of W, per block
  unsigned shared_bytes;  // dynamic, per block
  unsigned blocks;        // enough to fill a card with about 130 multiprocessors
  unsigned least_k;       // per block: below it, splitting K does not pay
};

// skinny_sm80_NUMBER_TOKENS.cu: 2 sides of tokens × (K of a chunk + 32) × 2 bytes, and a flag.
constexpr SkinnyVariant kSkinnyTensorVariants[] = {
    {8, 32, 2 * 8 * (1024 + 32) * 2 + 16, 256, 1024},
    {16, 64, 2 * 16 * (512 + 32) * 2 + 16, 256, 512},
    {32, 128, 2 * 32 * (256 + 32) * 2 + 16, 256, 512},
    {64, 256, 2 * 64 * (128 + 32) * 2 + 16, 128, 512},
};

// skinny.cu; its blocks never split K.
constexpr SkinnyVariant kSkinnyPlainVariant = {64, 8, 0, 0, 0};

}  // namespace gvb
