#include "bench/llm/decoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/elementary.h"
#include "base/wait.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/number_bits.h"

namespace gvb {

namespace {

constexpr unsigned char kDecoderPoison = 0xff;  // NaN, as halves and as single precision
constexpr unsigned kNoToken = 0xffffffff;
constexpr int64_t kSpinNs = 20'000, kQueryEveryNs = 100'000, kDecoderPatienceNs = 60'000'000'000;

unsigned pages_of(unsigned tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

// { cosine, sine } of each position and pair of dimensions.
std::vector<float> angles_of(unsigned positions, const DecoderShape& shape) {
  constexpr double kBase = 10000;
  const unsigned dimension = shape.dimension();
  std::vector<float> angles;
  for (unsigned position = 0; position < positions; ++position)
    for (unsigned pair = 0; pair < dimension / 2; ++pair) {
      const double angle = position * exponential(logarithm(kBase) * -2.0 * pair / dimension);
      angles.push_back(static_cast<float>(std::cos(angle)));
      angles.push_back(static_cast<float>(std::sin(angle)));
    }
  return angles;
}

}  // namespace

Decoder::Decoder(DeviceSession& session, const DecoderShape& shape, const DecoderTask& task)
    : session_(session),
      cuda_(session.cuda),
      shape_(shape),
      task_(task),
      places_(shape),
      scales_(shape),
      pages_each_(pages_of(task.prompt + task.output)),
      together_(std::clamp(task.prompt_rows / task.prompt, 1u, task.batch)),
      rows_(std::max(task.batch, together_ * task.prompt)),
      splits_(attention_splits(session, {task.batch, pages_each_, shape.kv_heads, shape.dimension()})),
      stream_(make_stream(cuda_)),
      kernels_(session, shape, stream_.get()),
      weights_(make_memory(cuda_, shape.weight_values() * 2)),
      keys_(make_memory(cuda_, cache_bytes() / 2)),
      values_(make_memory(cuda_, cache_bytes() / 2)),
      pages_(make_memory(cuda_, size_t{task.batch} * pages_each_ * sizeof(unsigned))),
      angles_(make_memory(cuda_, size_t{pages_each_} * kPageTokens * shape.dimension() * sizeof(float))),
      positions_(make_memory(cuda_, size_t{task.prompt} * sizeof(unsigned))),
      prompts_(make_memory(cuda_, size_t{task.batch} * task.prompt * sizeof(unsigned))),
      state_(make_memory(cuda_, 2 * sizeof(unsigned))),
      tokens_(make_memory(cuda_, task.batch * sizeof(unsigned))),
      residual_(make_memory(cuda_, size_t{rows_} * shape.hidden * sizeof(float))),
      other_residual_(make_memory(cuda_, size_t{task.batch} * shape.hidden * sizeof(float))),
      input_(make_memory(cuda_, size_t{rows_} * shape.hidden * 2)),
      qkv_(make_memory(cuda_, size_t{rows_} * shape.qkv() * 2)),
      q_(make_memory(cuda_, size_t{rows_} * shape.hidden * 2)),
      prompt_keys_(make_memory(cuda_, prompt_cache_bytes())),
      prompt_values_(make_memory(cuda_, prompt_cache_bytes())),
      partial_(make_memory(cuda_, partial_bytes(shape, task.batch, splits_))),
      arrived_(make_memory(cuda_, size_t{task.batch} * shape.kv_heads * sizeof(unsigned))),
      attended_(make_memory(cuda_, size_t{rows_} * shape.hidden * 2)),
      delta_(make_memory(cuda_, size_t{rows_} * shape.hidden * 2)),
      gate_up_(make_memory(cuda_, size_t{rows_} * 2 * shape.mlp * 2)),
      hidden_(make_memory(cuda_, size_t{rows_} * shape.mlp * 2)),
      last_(make_memory(cuda_, size_t{task.batch} * shape.hidden * 2)),
      logits_(make_memory(cuda_, size_t{task.batch} * shape.vocabulary * 2)),
      candidates_(make_memory(cuda_, size_t{task.batch} * kernels_.parts() * DecoderKernels::kCandidateBytes)),
      counter_(make_memory(cuda_, sizeof(uint64_t))),
      words_(cuda_, (2 + size_t{task.output} * (2 + task.batch)) * sizeof(unsigned)) {
  prepare_steps();
  prepare_prompts(together_);
  if (task.batch % together_ != 0) prepare_prompts(task.batch % together_);
  fill_normal(session, stream_.get(), {weights_.get(), shape.weight_values(), Number::kF16, task.seed});
  upload_tables();
  GVB_CALL(cuda_, "clearing a counter", cuMemsetD8_v2, counter_.get(), 0, sizeof(uint64_t));
  GVB_CALL(cuda_, "clearing counters", cuMemsetD8_v2, arrived_.get(), 0,
           size_t{task.batch} * shape.kv_heads * sizeof(unsigned));
  GVB_CALL(cuda_, "filling a decoder's weights", cuCtxSynchronize);
}

template <class Value>
void Decoder::upload(const DeviceMemory& to, const std::vector<Value>& values, const char* attempt) {
  GVB_CALL(cuda_, attempt, cuMemcpyHtoD_v2, to.get(), values.data(), values.size() * sizeof(Value));
}

void Decoder::upload_tables() {
  upload(pages_, shuffled_pages({uint64_t{task_.batch} * pages_each_, task_.seed}), "copying the page table");
  upload(angles_, angles_of(pages_each_ * kPageTokens, shape_), "copying the angles of positions");
  std::vector<unsigned> positions(task_.prompt);
  std::iota(positions.begin(), positions.end(), 0u);
  upload(positions_, positions, "copying positions");
}

void Decoder::prepare_steps() {
  const unsigned hidden = shape_.hidden, batch = task_.batch;
  if (kernels_.product() != nullptr && DecodeProduct::fits(session_, {batch, hidden, shape_.mlp}))
    return prepare_fused_steps();
  const auto prepare = [&](unsigned n, unsigned k) {
    const SkinnyShape product{Number::kF16, batch, n, k};
    variant_ = products_.try_emplace({n, k}, session_, product).first->second.variant();
  };
  for (const auto& [n, k] : shape_.layer_products()) prepare(n, k);
  prepare(shape_.vocabulary, hidden);
}

void Decoder::prepare_prompts(unsigned sequences) {
  const unsigned rows = sequences * task_.prompt;
  for (const auto& [n, k] : shape_.layer_products()) {
    const GemmShape product{Number::kF16, rows, n, k};
    prompt_variant_ = prompt_products_.try_emplace({rows, n, k}, session_, product).first->second.variant();
  }
  prompt_attention_.try_emplace(
      sequences, session_,
      AttentionShape{Number::kF16, shape_.dimension(), sequences, shape_.heads, shape_.kv_heads, task_.prompt, true});
}

uint64_t Decoder::cache_bytes() const {
  return uint64_t{2} * 2 * shape_.layers * task_.batch * pages_each_ * kPageTokens * shape_.kv_heads *
         shape_.dimension();
}

uint64_t Decoder::prompt_cache_bytes() const { return uint64_t{2} * rows_ * shape_.kv_heads * shape_.dimension(); }

void Decoder::begin(uint64_t request) {
  GVB_CALL(cuda_, "waiting for a request", cuStreamSynchronize, stream_.get());
  const std::pair<const DeviceMemory*, size_t> outputs[] = {
      {&keys_, cache_bytes() / 2},
      {&values_, cache_bytes() / 2},
      {&residual_, size_t{rows_} * shape_.hidden * sizeof(float)},
      {&other_residual_, size_t{task_.batch} * shape_.hidden * sizeof(float)},
      {&input_, size_t{rows_} * shape_.hidden * 2},
      {&qkv_, size_t{rows_} * shape_.qkv() * 2},
      {&q_, size_t{rows_} * shape_.hidden * 2},
      {&prompt_keys_, prompt_cache_bytes()},
      {&prompt_values_, prompt_cache_bytes()},
      {&attended_, size_t{rows_} * shape_.hidden * 2},
      {&delta_, size_t{rows_} * shape_.hidden * 2},
      {&gate_up_, size_t{rows_} * 2 * shape_.mlp * 2},
      {&hidden_, size_t{rows_} * shape_.mlp * 2},
      {&last_, size_t{task_.batch} * shape_.hidden * 2},
      {&logits_, size_t{task_.batch} * shape_.vocabulary * 2}};
  for (const auto& [memory, bytes] : outputs)
    GVB_CALL(cuda_, "clearing a decoder's outputs", cuMemsetD8_v2, memory->get(), kDecoderPoison, bytes);
  GVB_CALL(cuda_, "clearing a decoder's state", cuMemsetD8_v2, state_.get(), 0, 2 * sizeof(unsigned));
  prompt_tokens_.clear();
  for (uint64_t i = 0; i < uint64_t{task_.batch} * task_.prompt; ++i)
    prompt_tokens_.push_back(static_cast<unsigned>(mixed(mixed(task_.seed + request) + i) % shape_.vocabulary));
  upload(prompts_, prompt_tokens_, "copying prompts");
  words_.store<unsigned>(0);
  GVB_CALL(cuda_, "clearing a decoder's outputs", cuCtxSynchronize);
}

void Decoder::multiply_few(const Matrix& matrix, const Vectors& of) {
  if (!fused_products_.empty()) {
    DecodeProduct::Operands operands;
    operands.x = of.x;
    operands.y = of.y;
    return multiply_fused(matrix, operands, false);
  }
  const SkinnyGemm& product = products_.at({matrix.n, matrix.k});
  product.launch(stream_.get(), {of.x, weights(matrix.weights), of.y}, counter_.get());
  blocks_ += product.blocks();
}

void Decoder::multiply(const Pass& pass, const Matrix& matrix, const Vectors& of) {
  if (!pass.prompts) return multiply_few(matrix, of);
  Gemm& product = prompt_products_.at({pass.rows.count, matrix.n, matrix.k});
  product.launch(stream_.get(), {of.x, weights(matrix.weights), of.y}, counter_.get());
  blocks_ += product.blocks();
}

void Decoder::attend(const Pass& pass, const CachePages& cache) {
  if (!pass.prompts) return attend_newest(cache);
  Attention& attention = prompt_attention_.at(pass.rows.count / pass.rows.per_sequence);
  attention.launch(stream_.get(), {q_.get(), prompt_keys_.get(), prompt_values_.get(), attended_.get()},
                   counter_.get());
  blocks_ += attention.tiles();
}

void Decoder::run_layers(const Pass& pass) {
  kernels_.embed(pass.rows.count, {weights(places_.embedding()), pass.tokens, residual_.get()});
  for (unsigned layer = 0; layer < shape_.layers; ++layer) run_layer(pass, layer);
}

// The next normalisation adds what the previous layer's MLP left in delta_.
void Decoder::run_layer(const Pass& pass, unsigned layer) {
  const unsigned rows = pass.rows.count, hidden = shape_.hidden, mlp = shape_.mlp;
  const WeightPlaces::Layer at = places_.layer(layer);
  const CachePages pages = cache_of(layer);
  kernels_.norm(
      rows, {residual_.get(), layer == 0 ? 0 : delta_.get(), scales_.mlp, weights(at.attention_gain), input_.get()});
  multiply(pass, {shape_.qkv(), hidden, at.qkv}, {input_.get(), qkv_.get()});
  if (pass.prompts)
    kernels_.rope(pass.rows, pages, {qkv_.get(), angles_.get(), q_.get(), prompt_keys_.get(), prompt_values_.get()});
  attend(pass, pages);
  multiply(pass, {hidden, hidden, at.output}, {attended_.get(), delta_.get()});
  kernels_.norm(rows, {residual_.get(), delta_.get(), scales_.attention, weights(at.mlp_gain), input_.get()});
  multiply(pass, {2 * mlp, hidden, at.gate_up}, {input_.get(), gate_up_.get()});
  kernels_.swiglu(rows, {gate_up_.get(), hidden_.get()});
  multiply(pass, {hidden, mlp, at.down}, {hidden_.get(), delta_.get()});
}

// Computes the tokens from the last row of each sequence.
void Decoder::finish(unsigned advance) {
  multiply_few({shape_.vocabulary, shape_.hidden, places_.head()}, {last_.get(), logits_.get()});
  pick(advance);
}

void Decoder::prefill() {
  for (unsigned first = 0; first < task_.batch; first += together_) {
    const unsigned sequences = std::min(together_, task_.batch - first);
    const TokenRows rows{sequences * task_.prompt, task_.prompt, first, positions_.get()};
    run_layers({rows, prompts_.get() + size_t{first} * task_.prompt * sizeof(unsigned), true});
    for (unsigned i = 0; i < sequences; ++i) {
      const size_t last_value = (size_t{i + 1} * task_.prompt - 1) * shape_.hidden;
      kernels_.norm(1, {residual_.get() + last_value * sizeof(float), delta_.get() + last_value * 2, scales_.mlp,
                        weights(places_.final_gain()), last_.get() + size_t{first + i} * shape_.hidden * 2});
    }
  }
  finish(task_.prompt);
}

void Decoder::step() { decode(); }

void Decoder::capture() {
  const uint64_t before = blocks_;
  GVB_CALL(cuda_, "capturing a step", cuStreamBeginCapture_v2, stream_.get(), abi::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  decode();
  abi::CUgraph graph = nullptr;
  GVB_CALL(cuda_, "capturing a step", cuStreamEndCapture, stream_.get(), &graph);
  graph_.emplace(cuda_, graph);
  abi::CUgraphExec executable = nullptr;
  GVB_CALL(cuda_, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, graph, 0);
  executable_.emplace(cuda_, executable);
  blocks_of_step_ = blocks_ - before;
  blocks_ = before;
}

void Decoder::step_by_graph() {
  if (!executable_) capture();
  GVB_CALL(cuda_, "launching a step's graph", cuGraphLaunch, executable_->get(), stream_.get());
  blocks_ += blocks_of_step_;
}

int64_t Decoder::await(unsigned number) {
  const auto visible = [&] { return words_.load<unsigned>() > number; };
  const int64_t began = now_ns();
  int64_t seen = began, asked = began;
  while (!visible()) {
    // With more tenants than processors, yields to them.
    if (seen - began < kSpinNs)
      relax();
    else
      sched_yield();
    seen = now_ns();
    if (seen - asked < kQueryEveryNs) continue;
    asked = seen;
    session_.token.check();
    const abi::CUresult code = cuda_.require(cuda_.api.cuStreamQuery, "cuStreamQuery")(stream_.get());
    if (code == abi::CUDA_ERROR_NOT_READY && seen - began < kDecoderPatienceNs) continue;
    if (code != abi::CUDA_ERROR_NOT_READY) cuda_.check(code, "cuStreamQuery", "waiting for a token");
    if (!visible())
      throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: the token of step " +
                                                     std::to_string(number) + " never came.");
  }
  seen = now_ns();
  for (const unsigned token : shown(number).tokens)
    if (token >= shape_.vocabulary)
      throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: the logits of step " +
                                                     std::to_string(number) +
                                                     (token == kNoToken ? " are not finite." : " gave no token."));
  return seen;
}

Decoder::Shown Decoder::shown(unsigned number) const {
  const size_t record = (2 + size_t{number % task_.output} * (2 + task_.batch)) * sizeof(unsigned);
  Shown out;
  out.checksum = words_.load<unsigned>(record) | uint64_t{words_.load<unsigned>(record + 4)} << 32;
  for (unsigned i = 0; i < task_.batch; ++i) out.tokens.push_back(words_.load<unsigned>(record + 8 + i * size_t{4}));
  return out;
}

uint64_t Decoder::blocks_counted() const {
  uint64_t count = 0;
  GVB_CALL(cuda_, "reading the count of blocks", cuMemcpyDtoH_v2, &count, counter_.get(), sizeof count);
  return count;
}

void Decoder::check_products() const {
  check_product({shape_.vocabulary, shape_.hidden, places_.head()}, {last_.get(), logits_.get()});
  check_product({shape_.hidden, shape_.mlp, places_.layer(shape_.layers - 1).down}, {hidden_.get(), delta_.get()});
}

void Decoder::check_product(const Matrix& matrix, const Vectors& of) const {
  constexpr unsigned kSamples = 16;
  constexpr double kTolerance = 1e-3;  // two roundings to fp16
  std::vector<uint16_t> inputs(matrix.k), outputs(matrix.n);
  const uint64_t secret = mixed(static_cast<uint64_t>(now_ns())), row = secret % task_.batch;
  GVB_CALL(cuda_, "reading inputs", cuMemcpyDtoH_v2, inputs.data(), of.x + row * matrix.k * 2, inputs.size() * 2);
  GVB_CALL(cuda_, "reading results", cuMemcpyDtoH_v2, outputs.data(), of.y + row * matrix.n * 2, outputs.size() * 2);
  for (unsigned sample = 0; sample < kSamples; ++sample) {
    const uint64_t n = mixed(secret + sample) % matrix.n;
    double sum = 0, squares = 0;
    for (uint64_t k = 0; k < matrix.k; ++k) {
      const double input = gvb::decode<F16>(inputs[k]);
      sum += input * gvb::decode<F16>(encode<F16>(normal_value(task_.seed, matrix.weights + n * matrix.k + k)));
      squares += input * input;
    }
    const double error = std::abs(gvb::decode<F16>(outputs[n]) - sum);
    if (!(error <= kTolerance * (std::abs(sum) + std::sqrt(squares))))
      throw Failure(
          FailureKind::kInvalidResult,
          "a call reported success without doing its work: a matrix product of the last step differs from double "
          "precision by " +
              std::to_string(error) + ".");
  }
}

std::vector<unsigned> Decoder::prompts() const { return prompt_tokens_; }

std::vector<float> Decoder::logits() const {
  std::vector<uint16_t> halves(size_t{task_.batch} * shape_.vocabulary);
  GVB_CALL(cuda_, "reading logits", cuMemcpyDtoH_v2, halves.data(), logits_.get(), halves.size() * 2);
  std::vector<float> values;
  values.reserve(halves.size());
  for (const uint16_t half : halves) values.push_back(gvb::decode<F16>(half));
  return values;
}

}  // namespace gvb
