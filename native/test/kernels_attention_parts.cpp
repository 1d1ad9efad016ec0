// Attention forward, every variant, against double precision on the same rounded inputs.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/attention_sm80_bf16_d128.cu"
#include "kernels/attention_sm80_bf16_d128_48k.cu"
#include "kernels/attention_sm80_bf16_d64.cu"
#include "kernels/attention_sm80_f16_d128.cu"
#include "kernels/attention_sm80_f16_d128_48k.cu"
#include "kernels/attention_sm80_f16_d64.cu"
#include "kernels/attention_sm90_bf16_d128.cu"
#include "kernels/attention_sm90_bf16_d64.cu"
#include "kernels/attention_sm90_f16_d128.cu"
#include "kernels/attention_sm90_f16_d64.cu"
#include "sim/work/tensor_map.h"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

struct Case {
  unsigned width, batch, heads, kv_heads, length;
  bool causal;
  uint64_t seed;
  float spread = 1;  // standard deviation of the queries, and of the scores
};

using Values = std::vector<uint16_t>;

template <class Format>
Values normal_values(size_t count, uint64_t seed, float deviation = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Values values(count);
  for (uint16_t& value : values) value = static_cast<uint16_t>(gvb::encode<Format>(deviation * normal(random)));
  return values;
}

struct Inputs {
  Values q, k, v;
};

// One row of the output.
template <class Format>
std::vector<double> expected_row(const Case& its, const Inputs& in, unsigned sequence, unsigned query, unsigned head) {
  const auto at = [&](const Values& values, unsigned heads, unsigned token, unsigned which, unsigned i) {
    return double{
        gvb::decode<Format>(values[((size_t{sequence} * its.length + token) * heads + which) * its.width + i])};
  };
  const unsigned kv_head = head / (its.heads / its.kv_heads), keys = its.causal ? query + 1 : its.length;
  std::vector<double> weights(keys), row(its.width);
  double sum = 0;
  for (unsigned key = 0; key < keys; ++key) {
    double score = 0;
    for (unsigned i = 0; i < its.width; ++i)
      score += at(in.q, its.heads, query, head, i) * at(in.k, its.kv_heads, key, kv_head, i);
    sum += weights[key] = std::exp(score / std::sqrt(static_cast<double>(its.width)));
  }
  for (unsigned key = 0; key < keys; ++key)
    for (unsigned i = 0; i < its.width; ++i) row[i] += weights[key] / sum * at(in.v, its.kv_heads, key, kv_head, i);
  return row;
}

// The largest error within a row, relative to its largest value; infinite if it is not a number.
template <class Format>
double error_of(const Case& its, const Inputs& in, const Values& out) {
  double worst = 0;
  for (unsigned sequence = 0; sequence < its.batch; ++sequence)
    for (unsigned query = 0; query < its.length; ++query)
      for (unsigned head = 0; head < its.heads; ++head) {
        const std::vector<double> row = expected_row<Format>(its, in, sequence, query, head);
        const size_t first = ((size_t{sequence} * its.length + query) * its.heads + head) * its.width;
        double largest = 0, error = 0;
        for (unsigned i = 0; i < its.width; ++i) {
          const double value = gvb::decode<Format>(out[first + i]);
          if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
          largest = std::max(largest, std::fabs(row[i]));
          error = std::max(error, std::fabs(value - row[i]));
        }
        worst = std::max(worst, error / largest);
      }
  return worst;
}

float scale_of(const Case& its) {
  return static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(its.width)));
}

using AmpereKernel = void (*)(const unsigned char*, const unsigned char*, const unsigned char*, unsigned char*,
                              unsigned long long*, unsigned, unsigned, unsigned, unsigned, float);
using TensorMap = gvb::hopper::TensorMap;
using HopperKernel = void (*)(TensorMap, TensorMap, TensorMap, TensorMap, unsigned long long*, unsigned long long*,
                              unsigned, unsigned, unsigned, unsigned, unsigned, float);

constexpr unsigned kMultiprocessors = 2;

// A weight is rounded to the format before it is multiplied by its value, and so is the sum.
template <class Format>
constexpr double kTolerance = 3.0 / (1 << (Format::kMantissa + 1));

// Runs a kernel with `run`, which gets the inputs, the output and a counter of blocks.
template <class Format, class Run>
void test(const Case& its, const gvb::AttentionTile& tile, const Run& run) {
  const size_t row = size_t{its.width} * its.batch * its.length;
  Inputs in = {normal_values<Format>(row * its.heads, 1, its.spread), normal_values<Format>(row * its.kv_heads, 2),
               normal_values<Format>(row * its.kv_heads, 3)};
  Values out(row * its.heads, 0xffff);
  unsigned long long blocks = 0;
  const unsigned tiles = (its.length + tile.queries - 1) / tile.queries;
  run(gvb::emulator::Launch{{tiles, its.heads, its.batch}, {tile.threads, 1, 1}, tile.shared_bytes, 1, its.seed}, in,
      out, blocks);
  CHECK_EQUAL(blocks, tiles * its.heads * its.batch);
  CHECK_NEAR(error_of<Format>(its, in, out), 0, kTolerance<Format>);
}

template <class Format>
void test_ampere(AmpereKernel kernel, const Case& its, unsigned stages = 2) {
  const auto bytes = [](Values& values) { return reinterpret_cast<unsigned char*>(values.data()); };
  test<Format>(its, gvb::attention_tile_sm80(its.width, stages),
               [&](const gvb::emulator::Launch& launch, Inputs& in, Values& out, unsigned long long& blocks) {
                 gvb::emulator::run(launch, [&] {
                   kernel(bytes(in.q), bytes(in.k), bytes(in.v), bytes(out), &blocks, its.length, its.heads,
                          its.kv_heads, its.causal, scale_of(its));
                 });
               });
}

// A map of [sequence][token][head][width], in boxes of `rows` tokens and 64 columns.
TensorMap map_of(const Case& its, Values& values, unsigned heads, unsigned rows) {
  gvb::sim::TensorDescription described = {};
  described.address = reinterpret_cast<uint64_t>(values.data());
  described.rank = 4;
  described.swizzle = gvb::abi::CU_TENSOR_MAP_SWIZZLE_128B;
  described.element_bytes = 2;
  const unsigned sizes[] = {its.width, heads, its.length, its.batch}, box[] = {64, 1, rows, 1};
  uint64_t stride = 2;
  for (unsigned i = 0; i < 4; ++i) {
    described.dimensions[i] = sizes[i];
    described.box[i] = static_cast<uint16_t>(box[i]);
    if (i > 0) described.strides[i - 1] = stride;
    stride *= sizes[i];
  }
  gvb::abi::CUtensorMap encoded;
  CHECK_EQUAL(gvb::sim::encode(&encoded, described), gvb::abi::CUDA_SUCCESS);
  TensorMap map;
  std::memcpy(&map, &encoded, sizeof map);
  return map;
}

template <class Format>
void test_hopper(HopperKernel kernel, const Case& its) {
  const gvb::AttentionTile tile = gvb::attention_tile_sm90(its.width);
  test<Format>(
      its, tile, [&](const gvb::emulator::Launch& launch, Inputs& in, Values& out, unsigned long long& blocks) {
        const TensorMap q = map_of(its, in.q, its.heads, tile.queries), k = map_of(its, in.k, its.kv_heads, tile.keys),
                        v = map_of(its, in.v, its.kv_heads, tile.keys),
                        o = map_of(its, out, its.heads, gvb::kSm90QueriesOfWarpgroup);
        const unsigned tiles = launch.grid.x * launch.grid.y * launch.grid.z;
        // Fewer blocks than tiles, as on a card with so many multiprocessors; the tickets of an earlier launch.
        unsigned long long tickets = 3ULL * tiles;
        gvb::emulator::Launch resident = launch;
        resident.grid = {std::min(tiles, kMultiprocessors), 1, 1};
        gvb::emulator::run(resident, [&] {
          kernel(q, k, v, o, &blocks, &tickets, its.length, its.heads, its.heads / its.kv_heads, tiles, its.causal,
                 scale_of(its));
        });
        CHECK_EQUAL(tickets, 4ULL * tiles);
      });
}

}  // namespace

void test_attention() {
  // Two tiles of queries, the second of 72; several blocks of keys, the last one not full; two heads that share one
  // of keys and values.
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d64, {64, 1, 2, 1, 200, true, 1});
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d64, {64, 2, 1, 1, 200, false, 2});
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d128, {128, 1, 1, 1, 136, true, 3});
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d64, {64, 1, 2, 2, 72, false, 4});
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d128, {128, 1, 1, 1, 130, true, 5});
  // Shorter than a tile, and a single token.
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d128, {128, 1, 2, 2, 33, false, 6});
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d128, {128, 2, 1, 1, 1, true, 7});
  // Scores so far apart that later ones shrink the sums of earlier ones to almost nothing.
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d64, {64, 1, 1, 1, 330, true, 8, 4});
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d128, {128, 1, 1, 1, 330, false, 9, 8});

  // With one stage of keys and values.
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d128_48k, {128, 1, 2, 1, 136, true, 11}, 1);
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d128_48k, {128, 1, 1, 1, 75, false, 12, 8}, 1);
  test_ampere<gvb::Bf16>(gvb_attention_sm80_bf16_d128_48k, {128, 2, 1, 1, 1, true, 13}, 1);
  // Scores that grow from block to block, by less than sums shrink for, and by more.
  test_ampere<gvb::F16>(gvb_attention_sm80_f16_d128, {128, 1, 1, 1, 330, true, 14, 3});

  // Two tiles of queries, the second with a masked edge; keys in four blocks, so that both stages are used twice.
  test_hopper<gvb::Bf16>(gvb_attention_sm90_bf16_d128, {128, 1, 1, 1, 460, false, 1});
  test_hopper<gvb::Bf16>(gvb_attention_sm90_bf16_d128, {128, 1, 2, 1, 200, true, 2});
  test_hopper<gvb::F16>(gvb_attention_sm90_f16_d128, {128, 2, 1, 1, 129, true, 3});
  test_hopper<gvb::F16>(gvb_attention_sm90_f16_d64, {64, 1, 1, 1, 400, true, 4});
  test_hopper<gvb::F16>(gvb_attention_sm90_f16_d64, {64, 2, 2, 1, 70, false, 5});
  test_hopper<gvb::Bf16>(gvb_attention_sm90_bf16_d64, {64, 1, 1, 1, 1, true, 6});
  test_hopper<gvb::F16>(gvb_attention_sm90_f16_d64, {64, 1, 1, 1, 520, true, 7, 4});
  // A warpgroup without queries in every second tile, before and after tiles where it has some; and, without a mask,
  // two such warpgroups.
  test_hopper<gvb::F16>(gvb_attention_sm90_f16_d64, {64, 1, 3, 1, 310, true, 9});
  test_hopper<gvb::Bf16>(gvb_attention_sm90_bf16_d64, {64, 2, 2, 1, 250, false, 10});
  test_hopper<gvb::Bf16>(gvb_attention_sm90_bf16_d128, {128, 1, 1, 1, 520, false, 8, 8});
}
