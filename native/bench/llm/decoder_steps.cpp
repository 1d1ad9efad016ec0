// Decode steps: one token per sequence.
#include <utility>

#include "bench/llm/decoder.h"

namespace gvb {

unsigned Decoder::launches_of_step() const {
  // Launches in addition to those of the layers: the embedding, the head, its token and its publication, and the last
  // norm if it is not part of the head.
  return fused_products_.empty() ? 8 * shape_.layers + 5 : 5 * shape_.layers + 4;
}

void Decoder::prepare_fused_steps() {
  variant_ = DecodeProduct::variant();
  const auto prepare = [&](unsigned n, unsigned k, bool gated) {
    const DecodeProductShape product{task_.batch, n, k, gated};
    fused_products_.try_emplace({n, k, gated ? 1u : 0u}, session_, kernels_.product(), product);
  };
  const auto [qkv, output, gate_up, down] = shape_.layer_products();
  for (const DecoderShape::Matrix& plain : {qkv, output, down}) prepare(plain.n, plain.k, false);
  prepare(gate_up.n, gate_up.k, true);
  prepare(shape_.vocabulary, shape_.hidden, false);
}

CachePages Decoder::cache_of(unsigned layer) const {
  const uint64_t at = cache_bytes() / 2 / shape_.layers * layer;
  return {keys_.get() + at, values_.get() + at, pages_.get(), pages_each_};
}

void Decoder::attend_newest(const CachePages& cache) {
  kernels_.attend(
      task_.batch, cache,
      {0, qkv_.get(), angles_.get(), state_.get(), partial_.get(), arrived_.get(), attended_.get(), splits_});
}

void Decoder::pick(unsigned advance) {
  kernels_.pick(task_.batch, advance,
                {logits_.get(), candidates_.get(), tokens_.get(), state_.get(), words_.device(), task_.output});
}

void Decoder::multiply_fused(const Matrix& matrix, const DecodeProduct::Operands& of, bool gated) {
  const DecodeProduct& product = fused_products_.at({matrix.n, matrix.k, gated ? 1u : 0u});
  DecodeProduct::Operands operands = of;
  operands.weights = weights(matrix.weights);
  product.launch(kernels_.step_launch(), stream_.get(), operands, counter_.get());
  blocks_ += product.blocks();
}

void Decoder::multiply_normed(const Matrix& matrix, const Norm& norm, abi::CUdeviceptr y, bool gated) {
  DecodeProduct::Operands of;
  of.residual = residual_now_;
  of.delta = norm.delta;
  of.delta_scale = norm.scale;
  of.gain = weights(norm.gain);
  of.out_scale = scales_.input;
  of.sum = residual_next_;
  of.normalised = norm.normalised;
  of.y = y;
  multiply_fused(matrix, of, gated);
  if (norm.delta != 0) std::swap(residual_now_, residual_next_);
}

void Decoder::run_layer_fused(unsigned layer) {
  const unsigned hidden = shape_.hidden, mlp = shape_.mlp;
  const WeightPlaces::Layer at = places_.layer(layer);
  const abi::CUdeviceptr delta = layer == 0 ? 0 : delta_.get();
  multiply_normed({shape_.qkv(), hidden, at.qkv}, {delta, scales_.mlp, at.attention_gain, 0}, qkv_.get());
  attend_newest(cache_of(layer));
  multiply_few({hidden, hidden, at.output}, {attended_.get(), delta_.get()});
  multiply_normed({2 * mlp, hidden, at.gate_up}, {delta_.get(), scales_.attention, at.mlp_gain, 0}, hidden_.get(),
                  true);
  multiply_few({hidden, mlp, at.down}, {hidden_.get(), delta_.get()});
}

void Decoder::decode_fused() {
  residual_now_ = residual_.get();
  residual_next_ = other_residual_.get();
  kernels_.embed(task_.batch, {weights(places_.embedding()), tokens_.get(), residual_.get()});
  for (unsigned layer = 0; layer < shape_.layers; ++layer) run_layer_fused(layer);
  multiply_normed({shape_.vocabulary, shape_.hidden, places_.head()},
                  {delta_.get(), scales_.mlp, places_.final_gain(), last_.get()}, logits_.get());
  pick(1);
}

void Decoder::decode() {
  if (!fused_products_.empty()) return decode_fused();
  run_layers({{task_.batch, 1, 0, state_.get()}, tokens_.get(), false});
  kernels_.norm(task_.batch, {residual_.get(), delta_.get(), scales_.mlp, weights(places_.final_gain()), last_.get()});
  finish(1);
}

}  // namespace gvb
