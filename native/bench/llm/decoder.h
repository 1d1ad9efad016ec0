// A synthetic decoder of Llama's shape: fp16 weights from a seed, a paged KV cache, greedy tokens that the host sees in
// mapped memory as soon as they are computed. Its launches go through the application's functions, one by one or, for
// decode steps, as one captured graph.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "bench/llm/attention.h"
#include "bench/llm/decode_product.h"
#include "bench/llm/decoder_kernels.h"
#include "bench/llm/gemm.h"
#include "bench/llm/skinny.h"

namespace gvb {

struct DecoderTask {
  unsigned batch = 1;   // sequences that decode together
  unsigned prompt = 0;  // tokens per sequence
  unsigned output = 0;  // tokens to generate per sequence
  uint64_t seed = 0;    // for weights and prompts
  // How many prompt tokens go through the layers together: more hardly speed products up, and need memory. A prompt is
  // never split.
  unsigned prompt_rows = 2048;
};

class Decoder {
 public:
  Decoder(DeviceSession& session, const DecoderShape& shape, const DecoderTask& task);
  ~Decoder() { session_.cuda.try_call(session_.cuda.api.cuStreamSynchronize, stream_.get()); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Prepares a request, untimed: fills all activations and the cache with NaN and sets the prompts of that number. If a
  // kernel does not run, the next one reads NaN.
  void begin(uint64_t request);
  // Submits all work for the first token of each sequence.
  void prefill();
  // Submits one decode step.
  void step();
  // Submits a decode step as one graph, captured at the first call.
  void step_by_graph();

  // What the host sees.
  struct Shown {
    uint64_t checksum = 0;         // over all bits of the step's logits
    std::vector<unsigned> tokens;  // by sequence
  };
  // Waits until the tokens of step `number` (0: the prefill) are visible and returns that time. Throws kInvalidResult
  // if the stream is idle without them, or if logits are not finite.
  int64_t await(unsigned number);
  Shown shown(unsigned number) const;

  // Blocks of matrix products and of prompt attention: how many ran by the device's count, and how many should have.
  uint64_t blocks_counted() const;
  uint64_t blocks_submitted() const { return blocks_; }

  // Checks, after a decode step, sampled results of its last products, chosen only now, against double precision and
  // weights that the host computes itself. Throws kInvalidResult.
  void check_products() const;

  std::vector<unsigned> prompts() const;  // of the current request, sequence by sequence
  std::vector<float> logits() const;      // of the last step
  const DecoderShape& shape() const { return shape_; }
  uint64_t cache_bytes() const;  // of keys and values, all layers
  // The variants for decode steps' matrix products, and for those of prompts and their attention.
  const char* variant() const { return variant_; }
  const char* prompt_variant() const { return prompt_variant_; }
  unsigned launches_of_step() const;
  // Whether a kernel may begin before the previous one ends.
  bool overlaps() const { return kernels_.step_launch().overlaps(); }

 private:
  struct Matrix {
    unsigned n, k;
    uint64_t weights;
  };
  struct Vectors {
    abi::CUdeviceptr x, y;
  };
  // Rows that go through the layers together: whole prompts, or one token per sequence.
  struct Pass {
    TokenRows rows;
    abi::CUdeviceptr tokens;
    bool prompts;
  };

  template <class Value>
  void upload(const DeviceMemory& to, const std::vector<Value>& values, const char* attempt);
  void upload_tables();
  void prepare_steps();
  void prepare_fused_steps();
  void prepare_prompts(unsigned sequences);
  uint64_t prompt_cache_bytes() const;  // keys, or values, of one layer's rows
  abi::CUdeviceptr weights(uint64_t place) const { return weights_.get() + place * 2; }
  void check_product(const Matrix& matrix, const Vectors& of) const;
  void multiply(const Pass& pass, const Matrix& matrix, const Vectors& of);
  void multiply_few(const Matrix& matrix, const Vectors& of);
  void attend(const Pass& pass, const CachePages& cache);
  void attend_newest(const CachePages& cache);
  CachePages cache_of(unsigned layer) const;
  void run_layers(const Pass& pass);
  void run_layer(const Pass& pass, unsigned layer);
  void finish(unsigned advance);
  void pick(unsigned advance);
  void decode();
  // For few sequences on sm_90: norms and SwiGLU run inside the products.
  void decode_fused();
  void run_layer_fused(unsigned layer);
  // RMSNorm of the residual stream, after adding the last product's output, if there is one.
  struct Norm {
    abi::CUdeviceptr delta;
    float scale;
    uint64_t gain;
    abi::CUdeviceptr normalised;
  };
  void multiply_normed(const Matrix& matrix, const Norm& norm, abi::CUdeviceptr y, bool gated = false);
  void multiply_fused(const Matrix& matrix, const DecodeProduct::Operands& of, bool gated);
  void capture();

  DeviceSession& session_;
  const Cuda& cuda_;
  const DecoderShape shape_;
  const DecoderTask task_;
  const WeightPlaces places_;
  const DecoderScales scales_;
  // Pages per sequence, prompts that go through the layers together, rows that all buffers have room for, and equal
  // parts of all pages.
  const unsigned pages_each_, together_, rows_, splits_;
  const Stream stream_;
  const DecoderKernels kernels_;
  const DeviceMemory weights_, keys_, values_, pages_, angles_, positions_, prompts_, state_, tokens_;
  const DeviceMemory residual_, other_residual_, input_, qkv_, q_, prompt_keys_, prompt_values_, partial_, arrived_,
      attended_, delta_, gate_up_, hidden_, last_, logits_, candidates_, counter_;
  const MappedMemory words_;
  std::map<std::array<unsigned, 2>, SkinnyGemm> products_;   // by n and k
  std::map<std::array<unsigned, 3>, Gemm> prompt_products_;  // by rows, n and k
  std::map<unsigned, Attention> prompt_attention_;           // by sequences
  // Fused products by n, k and whether it is gate and up; empty if the device or the shape does not support them.
  std::map<std::array<unsigned, 3>, DecodeProduct> fused_products_;
  abi::CUdeviceptr residual_now_ = 0, residual_next_ = 0;
  const char *variant_ = "", *prompt_variant_ = "";
  std::vector<unsigned> prompt_tokens_;
  uint64_t blocks_ = 0, blocks_of_step_ = 0;
  std::optional<Graph> graph_;
  std::optional<GraphExecutable> executable_;
};

}  // namespace gvb
