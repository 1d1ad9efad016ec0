// Parameters of the matrix product kernels, shared with the host code that launches them.
#pragma once

namespace gvb {

// TMA and wgmma. A row of a stage is 128 bytes of K.
namespace gemm_sm90 {
constexpr unsigned kTileRows = 128, kTileColumns = 256, kRowBytes = 128;
constexpr unsigned kStages = 4, kConsumers = 2, kWarpgroupThreads = 128, kBlocksOfCluster = 2;
constexpr unsigned kThreads = (kConsumers + 1) * kWarpgroupThreads;
constexpr unsigned kTileABytes = kTileRows * kRowBytes, kTileBBytes = kTileColumns * kRowBytes;
constexpr unsigned kStageBytes = kTileABytes + kTileBBytes;
// The part of C that one store writes, 64 rows of 128 bytes, and how many a warpgroup has room for: with room for a
// whole tile there would be only three stages, which costs 0.5 % at 4096.
constexpr unsigned kRowsOfStore = 64, kBoxColumns = 64, kBoxBytes = kRowsOfStore * 128, kBoxes = 2;
constexpr unsigned kBarriersAt = kStages * kStageBytes + kConsumers * kBoxes * kBoxBytes;
constexpr unsigned kSharedBytes = kBarriersAt + 2 * kStages * 8;
static_assert(kSharedBytes <= 232448, "what a block of sm_90 can have");
}  // namespace gemm_sm90

// mma.sync. Four stages fit into 99 KiB, which a block of every GPU since sm_80 can have.
namespace gemm_sm80 {
constexpr unsigned kTileRows = 128, kTileColumns = 256, kRowBytes = 64, kThreads = 256;
constexpr unsigned kStages = 4, kStageBytes = (kTileRows + kTileColumns) * kRowBytes;
constexpr unsigned kSharedBytes = kStages * kStageBytes;
}  // namespace gemm_sm80

// CUDA cores. Tiles are stored with K outermost and 4 extra columns, so that a warp's stores use different banks; two
// tiles each of A and B.
namespace gemm_f32 {
constexpr unsigned kTile = 128, kDepth = 8, kThreads = 128;
constexpr unsigned kRow = kTile + 4, kTileFloats = kDepth * kRow;
constexpr unsigned kSharedBytes = 2 * 2 * kTileFloats * 4;
}  // namespace gemm_f32

}  // namespace gvb
