#include "bench/llm/decode_attention.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/clock.h"
#include "base/elementary.h"
#include "bench/llm/decoder_kernels.h"
#include "bench/llm/launch_timer.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/number_bits.h"

namespace gvb {

namespace {

constexpr double kDecodeTolerance = 5e-3;  // fp16 results and weights, for values with a standard deviation of 1
constexpr unsigned kSamples = 4;

double half_of(uint64_t seed, uint64_t index) { return decode<F16>(encode<F16>(normal_value(seed, index))); }

class Reading {
 public:
  Reading(DeviceSession& session, const DecodeAttentionRequest& request)
      : session_(session),
        cuda_(session.cuda),
        of_(request),
        pages_each_((request.context + kPageTokens - 1) / kPageTokens),
        values_(uint64_t{request.batch} * pages_each_ * kPageTokens * request.kv_heads * request.dimension),
        shape_{1, request.heads * request.dimension, request.heads, request.kv_heads, 64, 2},
        splits_(attention_splits(session, {request.batch, pages_each_, request.kv_heads, request.dimension})),
        page_numbers_(shuffled_pages({uint64_t{request.batch} * pages_each_, request.seed})),
        keys_(make_memory(cuda_, values_ * 2)),
        cache_values_(make_memory(cuda_, values_ * 2)),
        pages_(make_memory(cuda_, page_numbers_.size() * sizeof(unsigned))),
        position_(make_memory(cuda_, sizeof(unsigned))),
        q_(make_memory(cuda_, queries() * 2)),
        out_(make_memory(cuda_, queries() * 2)),
        partial_(make_memory(cuda_, partial_bytes(shape_, request.batch, splits_))),
        arrived_(make_memory(cuda_, size_t{request.batch} * request.kv_heads * sizeof(unsigned))) {
    fill_normal(session, nullptr, {keys_.get(), values_, Number::kF16, request.seed});
    fill_normal(session, nullptr, {cache_values_.get(), values_, Number::kF16, request.seed + 1});
    fill_normal(session, nullptr, {q_.get(), queries(), Number::kF16, request.seed + 2});
    GVB_CALL(cuda_, "copying the page table", cuMemcpyHtoD_v2, pages_.get(), page_numbers_.data(),
             page_numbers_.size() * sizeof(unsigned));
    GVB_CALL(cuda_, "writing a position", cuMemsetD32_v2, position_.get(), request.context - 1, 1);
    GVB_CALL(cuda_, "clearing a counter", cuMemsetD8_v2, arrived_.get(), 0,
             size_t{request.batch} * request.kv_heads * sizeof(unsigned));
    GVB_CALL(cuda_, "clearing an output", cuMemsetD8_v2, out_.get(), 0xff, queries() * 2);
    GVB_CALL(cuda_, "filling a cache", cuCtxSynchronize);
  }

  DecodeAttentionRate run() {
    LaunchTimer timer(session_);
    const DecoderKernels kernels(session_, shape_, timer.stream());
    const CachePages cache{keys_.get(), cache_values_.get(), pages_.get(), pages_each_};
    const auto launch = [&](abi::CUstream) {
      kernels.attend(of_.batch, cache,
                     {q_.get(), 0, 0, position_.get(), partial_.get(), arrived_.get(), out_.get(), splits_});
    };
    const unsigned launches = timer.launches_of_batch({of_.least_launches, of_.least_ns}, launch);
    std::vector<LaunchBatch> batches;
    for (unsigned i = 0; i < of_.batches; ++i) batches.push_back(timer.time(launches, launch));
    timer.check_events(batches, "decode attention", launch);
    DecodeAttentionRate out;
    out.bytes = uint64_t{2} * 2 * of_.batch * of_.context * of_.kv_heads * of_.dimension;
    out.splits = splits_;
    for (const LaunchBatch& batch : batches) out.launch_ns.push_back(batch.launch_ns());
    out.reference_error = compare();
    return out;
  }

 private:
  uint64_t queries() const { return uint64_t{of_.batch} * of_.heads * of_.dimension; }

  struct CacheRow {
    unsigned sequence, kv_head, token;
  };

  uint64_t place(const CacheRow& row) const {
    const uint64_t page = page_numbers_[size_t{row.sequence} * pages_each_ + row.token / kPageTokens];
    return ((page * of_.kv_heads + row.kv_head) * kPageTokens + row.token % kPageTokens) * of_.dimension;
  }

  std::vector<double> expected(unsigned sequence, unsigned head) const {
    const unsigned kv_head = head / (of_.heads / of_.kv_heads);
    const uint64_t query = (uint64_t{sequence} * of_.heads + head) * of_.dimension;
    std::vector<double> out(of_.dimension);
    double sum = 0;
    for (unsigned token = 0; token < of_.context; ++token) {
      const uint64_t at = place({sequence, kv_head, token});
      double score = 0;
      for (unsigned d = 0; d < of_.dimension; ++d)
        score += half_of(of_.seed + 2, query + d) * half_of(of_.seed, at + d);
      const double weight = exponential(score / std::sqrt(of_.dimension));
      sum += weight;
      for (unsigned d = 0; d < of_.dimension; ++d) out[d] += weight * half_of(of_.seed + 1, at + d);
    }
    for (double& value : out) value /= sum;
    return out;
  }

  // Checks heads chosen only now, so that no kernel could know them.
  double compare() const {
    std::vector<uint16_t> read(queries());
    GVB_CALL(cuda_, "reading attention", cuMemcpyDtoH_v2, read.data(), out_.get(), read.size() * 2);
    const auto secret = static_cast<uint64_t>(now_ns());
    double worst = 0;
    for (unsigned i = 0; i < kSamples; ++i) {
      const unsigned sequence = static_cast<unsigned>(mixed(secret + i) % of_.batch);
      const auto head = static_cast<unsigned>(mixed(~secret + i) % of_.heads);
      const std::vector<double> values = expected(sequence, head);
      for (unsigned d = 0; d < of_.dimension; ++d) {
        const double error =
            std::abs(decode<F16>(read[(size_t{sequence} * of_.heads + head) * of_.dimension + d]) - values[d]);
        if (!(error <= kDecodeTolerance))
          throw Failure(
              FailureKind::kInvalidResult,
              "a call reported success without doing its work: decode attention differs from double precision by " +
                  std::to_string(error) + ".");
        worst = std::max(worst, error);
      }
    }
    return worst;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const DecodeAttentionRequest& of_;
  const unsigned pages_each_;
  const uint64_t values_;
  const DecoderShape shape_;
  const unsigned splits_;
  const std::vector<unsigned> page_numbers_;
  const DeviceMemory keys_, cache_values_, pages_, position_, q_, out_, partial_, arrived_;
};

}  // namespace

DecodeAttentionRate decode_attention_rate(DeviceSession& session, const DecodeAttentionRequest& request) {
  return Reading(session, request).run();
}

}  // namespace gvb
