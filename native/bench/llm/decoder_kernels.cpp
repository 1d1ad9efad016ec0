#include "bench/llm/decoder_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/kept_modules.h"
#include "bench/llm/normal_value.h"

namespace gvb {

namespace {

constexpr int kLeastMajor = 8;  // of the compute capability
constexpr unsigned kStepThreads = 256;
constexpr unsigned kAttentionThreads = 128;
constexpr double kBinaryLogarithmOfE = 1.4426950408889634;

}  // namespace

unsigned attention_splits(const DeviceSession& session, const AttendedPages& pages) {
  constexpr unsigned kWarps = kAttentionThreads / 32;
  const unsigned together = pages.dimension == 64 ? 3 : 2;  // on a multiprocessor, as in kernels/decoder.cu
  const auto count = device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const unsigned blocks = together * static_cast<unsigned>(std::max(1, count.value_or(1)));
  return std::clamp(blocks / pages.kv_heads, 1u, pages.sequences * ((pages.each + kWarps - 1) / kWarps));
}

size_t partial_bytes(const DecoderShape& shape, unsigned sequences, unsigned splits) {
  const unsigned parts = (splits + sequences - 1) / sequences + 1;
  return size_t{sequences} * parts * shape.heads * (shape.dimension() + kPartAhead) * sizeof(float);
}

std::vector<unsigned> shuffled_pages(const PageOrder& order) {
  std::vector<unsigned> pages(order.count);
  std::iota(pages.begin(), pages.end(), 0u);
  for (uint64_t i = order.count; i > 1; --i) std::swap(pages[i - 1], pages[mixed(order.seed + i) % i]);
  return pages;
}

DecoderKernels::DecoderKernels(DeviceSession& session, const DecoderShape& shape, abi::CUstream stream)
    : launch_(session), shape_(shape), scales_(shape), stream_(stream) {
  const ComputeCapability capability = compute_capability(session.cuda, session.device);
  if (capability.major < kLeastMajor)
    throw Failure(FailureKind::kFunctionMissing,
                  "the decoder needs compute capability 8.0 or higher; this GPU has " + capability.text() + ".");
  auto& modules = session.kept<KeptModules>();
  const auto function = [&](const char* name) {
    return modules.of(launch_.hopper() ? "decoder_sm90" : "decoder").function(name);
  };
  embed_ = function("gvb_decoder_embed");
  norm_ = function("gvb_decoder_norm");
  rope_ = function("gvb_decoder_rope");
  attention_ = function(shape.dimension() == 64 ? "gvb_decoder_attention_64" : "gvb_decoder_attention_128");
  swiglu_ = function("gvb_decoder_swiglu");
  pick_ = function("gvb_decoder_pick");
  publish_ = function("gvb_decoder_publish");
  product_ = launch_.hopper() ? function("gvb_decode_product") : nullptr;
}

void DecoderKernels::launch(abi::CUfunction kernel, const StepLaunch::Grid& grid, void** parameters) const {
  launch_(stream_, kernel, grid, parameters);
}

void DecoderKernels::embed(unsigned rows, const Embed& of) const {
  Embed at = of;
  unsigned hidden = shape_.hidden, vocabulary = shape_.vocabulary;
  void* parameters[] = {&at.table, &at.tokens, &at.residual, &hidden, &vocabulary};
  launch(embed_, {rows, 1, 1, kStepThreads, 0}, parameters);
}

void DecoderKernels::norm(unsigned rows, const Norm& of) const {
  Norm at = of;
  float scale = scales_.input;
  unsigned hidden = shape_.hidden;
  void* parameters[] = {&at.residual, &at.delta, &at.delta_scale, &at.gain, &scale, &at.out, &hidden};
  launch(norm_, {rows, 1, 1, kStepThreads, 0}, parameters);
}

void DecoderKernels::rope(const TokenRows& rows, const CachePages& cache, const Rope& of) const {
  Rope at = of;
  TokenRows to = rows;
  CachePages pages = cache;
  DecoderShape shape = shape_;
  unsigned dimension = shape_.dimension();
  void* parameters[] = {&at.qkv,         &at.angles, &to.positions,    &pages.pages,       &at.q,
                        &at.keys,        &at.values, &pages.keys,      &pages.values,      &shape.heads,
                        &shape.kv_heads, &dimension, &to.per_sequence, &to.first_sequence, &pages.per_sequence};
  launch(rope_, {rows.count, 1, 1, kStepThreads, 0}, parameters);
}

void DecoderKernels::attend(unsigned rows, const CachePages& cache, const Attend& of) const {
  Attend at = of;
  CachePages pages = cache;
  DecoderShape shape = shape_;
  auto scale = static_cast<float>(kBinaryLogarithmOfE / std::sqrt(1.0 * shape_.dimension()));
  void* parameters[] = {&at.q,        &at.qkv,         &at.angles,          &pages.keys, &pages.values,
                        &pages.pages, &at.position,    &at.partial,         &at.arrived, &at.out,
                        &shape.heads, &shape.kv_heads, &pages.per_sequence, &rows,       &scale};
  launch(attention_, {shape_.kv_heads, at.splits, 1, kAttentionThreads, 0}, parameters);
}

void DecoderKernels::swiglu(unsigned rows, const Swiglu& of) const {
  Swiglu at = of;
  unsigned width = shape_.mlp;
  void* parameters[] = {&at.gate_up, &at.out, &width};
  launch(swiglu_, {(width / 2 + kStepThreads - 1) / kStepThreads, rows, 1, kStepThreads, 0}, parameters);
}

unsigned DecoderKernels::parts() const {
  constexpr unsigned kMostParts = 64;
  return std::min(kMostParts, (shape_.vocabulary / 2 + kStepThreads - 1) / kStepThreads);
}

void DecoderKernels::pick(unsigned rows, unsigned advance, const Pick& of) const {
  Pick at = of;
  unsigned count = shape_.vocabulary, parts = this->parts();
  void* picking[] = {&at.logits, &count, &at.candidates};
  launch(pick_, {parts, rows, 1, kStepThreads, 0}, picking);
  void* publishing[] = {&at.candidates, &parts, &rows, &advance, &at.tokens, &at.state, &at.words, &at.kept};
  launch(publish_, {1, 1, 1, kStepThreads, 0}, publishing);
}

}  // namespace gvb
