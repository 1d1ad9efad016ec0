#include "bench/llm/kernel_outputs.h"

#include <array>
#include <cstring>
#include <memory>

#include "base/hexadecimal.h"
#include "bench/kept_modules.h"
#include "bench/llm/attention.h"
#include "bench/llm/decoder.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/skinny.h"
#include "kernels/ordered_sum_shape.h"

namespace gvb {

namespace {

using Bytes = std::vector<uint8_t>;

struct KeptOutputs {
  explicit KeptOutputs(const DeviceSession&) {}
  std::vector<Bytes> outputs;
};

// Not a number, in every format. The host's own pattern is another one.
constexpr uint32_t kUnwritten = 0xffffffff;
constexpr uint8_t kUncopied = 0xfe;

// One kernel with its memory. The seed of a repetition decides all of its inputs.
class Subject {
 public:
  Subject(DeviceSession& session, Number number, uint64_t values)
      : number_(number), session_(session), values_(values), out_(make_memory(session.cuda, bytes())) {}
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  Number number() const { return number_; }

  virtual Bytes compute(uint64_t seed) {
    GVB_CALL(cuda(), "clearing an output", cuMemsetD32_v2, out_.get(), kUnwritten, bytes() / sizeof kUnwritten);
    fill(seed);
    GVB_CALL(cuda(), "waiting for inputs", cuCtxSynchronize);
    launch();
    GVB_CALL(cuda(), "waiting for an output", cuCtxSynchronize);
    Bytes read(bytes(), kUncopied);
    GVB_CALL(cuda(), "reading an output", cuMemcpyDtoH_v2, read.data(), out_.get(), read.size());
    return read;
  }

 protected:
  virtual void fill(uint64_t seed) = 0;
  virtual void launch() = 0;

  const Cuda& cuda() const { return session_.cuda; }
  DeviceSession& session() const { return session_; }
  abi::CUdeviceptr out() const { return out_.get(); }
  DeviceMemory input(uint64_t values, Number number) const { return make_memory(cuda(), values * bytes_of(number)); }
  void fill_input(const DeviceMemory& memory, uint64_t values, Number number, uint64_t seed) const {
    fill_normal(session_, nullptr, {memory.get(), values, number, seed});
  }
  void launch_kernel(abi::CUfunction kernel, std::array<unsigned, 2> grid, unsigned threads, void** parameters) const {
    GVB_CALL(cuda(), "launching a kernel whose output is compared", cuLaunchKernel, kernel, grid[0], grid[1], 1,
             threads, 1, 1, 0, nullptr, parameters, nullptr);
  }

 private:
  size_t bytes() const { return values_ * bytes_of(number_); }

  const Number number_;
  DeviceSession& session_;
  const uint64_t values_;
  const DeviceMemory out_;
};

constexpr unsigned kHeads = 8, kWidth = 128;

class AttentionOutput : public Subject {
 public:
  AttentionOutput(DeviceSession& session, unsigned length)
      : Subject(session, Number::kF16, uint64_t{length} * kHeads * kWidth),
        values_(uint64_t{length} * kHeads * kWidth),
        attention_(session, {Number::kF16, kWidth, 1, kHeads, kHeads, length, false}),
        q_(input(values_, Number::kF16)),
        k_(input(values_, Number::kF16)),
        v_(input(values_, Number::kF16)) {}

 private:
  void fill(uint64_t seed) override {
    for (const DeviceMemory* memory : {&q_, &k_, &v_}) fill_input(*memory, values_, Number::kF16, seed++);
  }
  void launch() override { attention_.launch(nullptr, {q_.get(), k_.get(), v_.get(), out()}); }

  const uint64_t values_;
  Attention attention_;
  const DeviceMemory q_, k_, v_;
};

constexpr unsigned kTokens = 32, kColumnsOfSize = 16;

class LinearOutput : public Subject {
 public:
  LinearOutput(DeviceSession& session, unsigned size)
      : Subject(session, Number::kF16, uint64_t{kTokens} * size * kColumnsOfSize),
        side_(size * kColumnsOfSize),
        layer_(session, {Number::kF16, kTokens, side_, side_}),
        x_(input(uint64_t{kTokens} * side_, Number::kF16)),
        weights_(input(uint64_t{side_} * side_, Number::kF16)) {}

 private:
  void fill(uint64_t seed) override {
    fill_input(x_, uint64_t{kTokens} * side_, Number::kF16, seed);
    if (!has_weights_) fill_input(weights_, uint64_t{side_} * side_, Number::kF16, seed + 1);
    has_weights_ = true;
  }
  void launch() override { layer_.launch(nullptr, {x_.get(), weights_.get(), out()}); }

  const unsigned side_;
  const SkinnyGemm layer_;
  const DeviceMemory x_, weights_;
  bool has_weights_ = false;
};

// The product's factors are no small integers, whose sums would be exact in every order.
class ProductOutput : public Subject {
 public:
  ProductOutput(DeviceSession& session, unsigned side)
      : Subject(session, Number::kF32, uint64_t{side} * side),
        side_(side),
        kernel_(kept_module(session, "work").function("gvb_gemm")),
        a_(input(uint64_t{side} * side, Number::kF16)),
        b_(input(uint64_t{side} * side, Number::kF16)) {}

 private:
  void fill(uint64_t seed) override {
    for (const DeviceMemory* memory : {&a_, &b_}) fill_input(*memory, uint64_t{side_} * side_, Number::kF16, seed++);
  }
  void launch() override {
    abi::CUdeviceptr a = a_.get(), b = b_.get(), c = out();
    void* parameters[] = {&a, &b, &c, &side_};
    launch_kernel(kernel_, {side_ / 64, side_ / 64}, 128, parameters);
  }

  unsigned side_;
  const abi::CUfunction kernel_;
  const DeviceMemory a_, b_;
};

class UnitAttentionOutput : public Subject {
 public:
  UnitAttentionOutput(DeviceSession& session, unsigned tokens)
      : Subject(session, Number::kF32, values_of(tokens)),
        tokens_(tokens),
        kernel_(kept_module(session, "work").function("gvb_attention")),
        q_(input(values_of(tokens), Number::kF32)),
        k_(input(values_of(tokens), Number::kF32)),
        v_(input(values_of(tokens), Number::kF32)) {}

 private:
  static uint64_t values_of(unsigned tokens) { return uint64_t{tokens} * kHeads * 64; }
  void fill(uint64_t seed) override {
    for (const DeviceMemory* memory : {&q_, &k_, &v_}) fill_input(*memory, values_of(tokens_), Number::kF32, seed++);
  }
  void launch() override {
    abi::CUdeviceptr q = q_.get(), k = k_.get(), v = v_.get(), to = out();
    void* parameters[] = {&q, &k, &v, &to, &tokens_};
    launch_kernel(kernel_, {kHeads, 1}, 256, parameters);
  }

  unsigned tokens_;
  const abi::CUfunction kernel_;
  const DeviceMemory q_, k_, v_;
};

// Sums of the blocks' sums. Blocks that do not run leave 0, so that another order gives another sum and not none.
class SumOutput : public Subject {
 public:
  SumOutput(DeviceSession& session, unsigned size)
      : Subject(session, Number::kF32, kRows),
        count_(size * kOrderedSumThreads),
        blocks_(size / 2),
        kernel_(kept_module(session, "ordered_sum").function("gvb_ordered_sum")),
        in_(input(uint64_t{kRows} * count_, Number::kF32)),
        sums_(input(uint64_t{kRows} * blocks_, Number::kF32)) {}

 private:
  static constexpr unsigned kRows = 64;
  void fill(uint64_t seed) override {
    fill_input(in_, uint64_t{kRows} * count_, Number::kF32, seed);
    GVB_CALL(cuda(), "clearing the blocks' sums", cuMemsetD32_v2, sums_.get(), 0, uint64_t{kRows} * blocks_);
  }
  void launch() override {
    sum(in_.get(), count_, sums_.get(), blocks_);
    sum(sums_.get(), blocks_, out(), 1);
  }
  void sum(abi::CUdeviceptr in, unsigned count, abi::CUdeviceptr to, unsigned blocks) const {
    void* parameters[] = {&in, &count, &to, &blocks};
    launch_kernel(kernel_, {blocks, kRows}, kOrderedSumThreads, parameters);
  }

  const unsigned count_, blocks_;
  const abi::CUfunction kernel_;
  const DeviceMemory in_, sums_;
};

// The logits and tokens of a few steps of a small decoder. Its prompt follows from the repetition.
class DecoderOutput : public Subject {
 public:
  DecoderOutput(DeviceSession& session, unsigned size, uint64_t seed)
      : Subject(session, Number::kF32, 1), decoder_(session, shape_of(size), {1, kPrompt, kSteps, seed}) {}

  Bytes compute(uint64_t seed) override {
    Bytes all;
    decoder_.begin(seed);
    for (unsigned step = 0; step < kSteps; ++step) {
      if (step == 0)
        decoder_.prefill();
      else
        decoder_.step();
      decoder_.await(step);
      append(decoder_.logits(), all);
      append(decoder_.shown(step).tokens, all);
    }
    return all;
  }

 private:
  static constexpr unsigned kPrompt = 66, kSteps = 4;
  static DecoderShape shape_of(unsigned size) { return {2, 4 * size, size / 32, size / 64, 4 * size, 4 * size}; }
  template <class Value>
  static void append(const std::vector<Value>& values, Bytes& all) {
    const auto* from = reinterpret_cast<const uint8_t*>(values.data());
    all.insert(all.end(), from, from + values.size() * sizeof(Value));
  }
  void fill(uint64_t) override {}
  void launch() override {}

  Decoder decoder_;
};

std::unique_ptr<Subject> subject_of(DeviceSession& session, const OutputsRequest& request) {
  const unsigned size = request.size;
  switch (request.kernel) {
    case OutputKernel::kAttention:
      return std::make_unique<AttentionOutput>(session, size);
    case OutputKernel::kLinearLayer:
      return std::make_unique<LinearOutput>(session, size);
    case OutputKernel::kDecoder:
      return std::make_unique<DecoderOutput>(session, size, request.seed);
    case OutputKernel::kProduct:
      return std::make_unique<ProductOutput>(session, 2 * size);
    case OutputKernel::kUnitAttention:
      return std::make_unique<UnitAttentionOutput>(session, size);
    case OutputKernel::kOrderedSum:
      break;
  }
  return std::make_unique<SumOutput>(session, size);
}

std::string digest_of(const Bytes& bytes) {
  uint64_t lanes[2] = {1, 2};
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], std::min(sizeof word, bytes.size() - at));
    for (uint64_t& lane : lanes) lane = mixed(lane * 0x9e3779b97f4a7c15u + word);
  }
  return hexadecimal(lanes, sizeof lanes);
}

}  // namespace

Outputs kernel_outputs(DeviceSession& session, const OutputsRequest& request) {
  constexpr uint64_t kInputs = 16;  // most seeds of a repetition
  auto& kept = session.kept<KeptOutputs>().outputs;
  kept.clear();
  const std::unique_ptr<Subject> subject = subject_of(session, request);
  Outputs out;
  out.number = name_of(subject->number());
  for (unsigned i = 0; i < request.repetitions; ++i) {
    session.token.check();
    kept.push_back(subject->compute(mixed(request.seed) + kInputs * (request.first + i)));
    out.digests.push_back(digest_of(kept.back()));
    out.bytes = kept.back().size();
  }
  return out;
}

KeptOutput kept_output(DeviceSession& session, const KeptOutputRequest& request) {
  const auto& kept = session.kept<KeptOutputs>().outputs;
  if (request.index >= kept.size())
    throw Failure(FailureKind::kInvalidResult, "an output was asked for that no kernel computed.");
  const Bytes& bytes = kept[request.index];
  return {hexadecimal(bytes.data(), bytes.size())};
}

}  // namespace gvb
