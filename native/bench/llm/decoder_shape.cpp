#include "bench/llm/decoder_shape.h"

#include <algorithm>
#include <cmath>

namespace gvb {

namespace {

constexpr uint64_t kMostWeightBytes = uint64_t{2} << 30;
constexpr unsigned kMostHidden = 4096, kFewestHidden = 512, kFewestLayers = 2, kVocabulary = 32000;
constexpr unsigned kCaches = 4;  // the weights are at least this many L2 caches

DecoderShape of_llama(unsigned hidden, unsigned layers) {
  return {layers, hidden, hidden / 128, hidden / 512, hidden / 2 * 7, kVocabulary};
}

uint64_t weight_bytes(const DeviceSession& session, uint64_t limit_bytes) {
  size_t free = 0, total = 0;
  GVB_CALL(session.cuda, "reading the memory's size", cuMemGetInfo_v2, &free, &total);
  const uint64_t limit = limit_bytes != 0 ? limit_bytes : total != 0 ? total : free;
  const uint64_t caches = kCaches * card_l2_bytes(session);
  return std::max(caches, std::min(limit / 4, kMostWeightBytes));
}

}  // namespace

std::string unfit(const DecoderShape& shape) {
  if (shape.layers == 0 || shape.hidden == 0 || shape.heads == 0 || shape.kv_heads == 0 || shape.mlp == 0 ||
      shape.vocabulary == 0)
    return "every size has to be above 0";
  if (shape.hidden % shape.heads != 0 || (shape.dimension() != 64 && shape.dimension() != 128))
    return "hidden / heads has to be 64 or 128";
  if (shape.heads % shape.kv_heads != 0 || shape.heads / shape.kv_heads > 8)
    return "heads / kvHeads has to be an integer from 1 to 8";
  if (shape.mlp % 64 != 0) return "mlp has to be a multiple of 64";
  if (shape.vocabulary % 2 != 0) return "vocabulary has to be even";
  return "";
}

DecoderShape default_decoder(const DeviceSession& session, uint64_t limit_bytes) {
  const uint64_t wanted = weight_bytes(session, limit_bytes);
  unsigned hidden = kMostHidden;
  while (hidden > kFewestHidden && of_llama(hidden, kFewestLayers).streamed_bytes() > wanted) hidden /= 2;
  DecoderShape shape = of_llama(hidden, 1);
  while (shape.streamed_bytes() + 2 * shape.layer_values() <= wanted) ++shape.layers;
  // Rounding down would go below that minimum.
  while (shape.streamed_bytes() < kCaches * card_l2_bytes(session)) ++shape.layers;
  return shape;
}

WeightPlaces::Layer WeightPlaces::layer(unsigned index) const {
  const uint64_t hidden = shape.hidden, begin = index * shape.layer_values();
  Layer places{};
  places.attention_gain = begin;
  places.mlp_gain = places.attention_gain + hidden;
  places.qkv = places.mlp_gain + hidden;
  places.output = places.qkv + hidden * shape.qkv();
  places.gate_up = places.output + hidden * hidden;
  places.down = places.gate_up + 2 * hidden * shape.mlp;
  return places;
}

DecoderScales::DecoderScales(const DecoderShape& shape)
    : input(static_cast<float>(1 / std::sqrt(1.0 * shape.hidden))),
      attention(static_cast<float>(1 / std::sqrt(1.0 * shape.hidden))),
      mlp(static_cast<float>(1 / std::sqrt(1.0 * shape.mlp))) {}

}  // namespace gvb
