#include "bench/llm/attention_rate.h"

#include <algorithm>
#include <cstdio>

#include "base/secret.h"
#include "bench/block_counter.h"
#include "bench/gpu_state.h"
#include "bench/llm/attention.h"
#include "bench/llm/attention_check.h"
#include "bench/llm/checksum.h"
#include "bench/llm/loaded_clock.h"
#include "bench/llm/normal.h"

namespace gvb {

namespace {

constexpr double kAttentionTolerance = 2e-2;
constexpr unsigned kHeadsOfMultiprocessor = 4;
constexpr unsigned kAttentionPoison = 0xffffffff;  // two NaNs, in either format

uint64_t values_of(const AttentionShape& shape, unsigned heads) {
  return uint64_t{shape.batch} * shape.length * heads * shape.head_dim;
}

AttentionShape shape_of(const DeviceSession& session, const AttentionRequest& request) {
  AttentionShape shape = {request.number,   request.head_dim, request.batch, request.heads,
                          request.kv_heads, request.length,   request.causal};
  if (shape.batch != 0 || shape.heads == 0) return shape;
  const unsigned wanted = kHeadsOfMultiprocessor * multiprocessors_of(session);
  shape.batch = 1;
  const uint64_t each = 2 * (values_of(shape, shape.heads) + values_of(shape, shape.kv_heads)) * bytes_of(shape.number);
  const uint64_t room = visible_memory(session).free_bytes.value_or(UINT64_MAX) / 4 / std::max(each, uint64_t{1});
  const uint64_t sequences = (wanted + shape.heads - 1) / shape.heads;
  shape.batch = static_cast<unsigned>(std::clamp(room, uint64_t{1}, sequences));
  return shape;
}

class Run {
 public:
  Run(DeviceSession& session, const AttentionRequest& request)
      : session_(session),
        cuda_(session.cuda),
        shape_(shape_of(session, request)),
        attention_(session, shape_),
        seed_(request.seed),
        counter_(cuda_),
        q_(make_memory(cuda_, bytes(shape_.heads))),
        k_(make_memory(cuda_, bytes(shape_.kv_heads))),
        v_(make_memory(cuda_, bytes(shape_.kv_heads))),
        out_(make_memory(cuda_, bytes(shape_.heads))),
        timer_(session) {
    fill_normal(session, timer_.stream(), {q_.get(), values_of(shape_, shape_.heads), shape_.number, request.seed});
    fill_normal(session, timer_.stream(),
                {k_.get(), values_of(shape_, shape_.kv_heads), shape_.number, request.seed + 1});
    fill_normal(session, timer_.stream(),
                {v_.get(), values_of(shape_, shape_.kv_heads), shape_.number, request.seed + 2});
    GVB_CALL(cuda_, "clearing the output", cuMemsetD32_v2, out_.get(), kAttentionPoison,
             bytes(shape_.heads) / sizeof kAttentionPoison);
    GVB_CALL(cuda_, "waiting for inputs", cuCtxSynchronize);
  }

  AttentionRate measure(const AttentionRequest& request) {
    const LaunchTimer::Launch launch = [this](abi::CUstream stream) { this->launch(stream); };
    const unsigned launches = timer_.launches_of_batch({request.least_launches, request.least_ns}, launch);
    AttentionRate rate;
    std::vector<LaunchBatch> batches;
    for (unsigned i = 0; i < request.batches; ++i)
      batches.push_back(time_with_clock(session_, timer_, launches, launch, rate.sm_clock_mhz));
    timer_.check_events(batches, "attention", launch);
    counter_.check(launched_ * attention_.tiles(), "cuLaunchKernel");
    for (const LaunchBatch& batch : batches) rate.launch_ns.push_back(batch.launch_ns());
    rate.launches = launches;
    rate.variant = attention_.variant();
    rate.compute_capability = compute_capability(cuda_, session_.device).text();
    rate.multiprocessors = multiprocessors_of(session_);
    rate.batch = shape_.batch;
    rate.launch_flops = attention_.flops();
    rate.launch_bytes = 2 * static_cast<double>(bytes(shape_.heads) + bytes(shape_.kv_heads));
    check(rate);
    return rate;
  }

 private:
  size_t bytes(unsigned heads) const { return values_of(shape_, heads) * bytes_of(shape_.number); }

  Attention::Operands operands() const { return {q_.get(), k_.get(), v_.get(), out_.get()}; }

  void launch(abi::CUstream stream) {
    ++launched_;
    attention_.launch(stream, operands(), counter_.device());
  }

  void check(AttentionRate& rate) const {
    std::mt19937_64 random(secret());
    const RowErrors errors = sample_rows(cuda_, shape_, operands(), seed_, random);
    rate.sampled_rows = errors.rows;
    rate.worst_error = errors.worst;
    if (!(errors.worst < kAttentionTolerance))
      throw Failure(
          FailureKind::kInvalidResult,
          "a call reported success without doing its work: attention's output differs from double precision by " +
              std::to_string(errors.worst) + " of a row's largest value.");
    char text[17];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(checksum_of(session_, {out_.get(), bytes(shape_.heads)})));
    rate.checksum = text;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const AttentionShape shape_;
  Attention attention_;
  const uint64_t seed_;
  const BlockCounter counter_;
  const DeviceMemory q_, k_, v_, out_;
  LaunchTimer timer_;
  uint64_t launched_ = 0;
};

}  // namespace

AttentionRate measure_attention(DeviceSession& session, const AttentionRequest& request) {
  return Run(session, request).measure(request);
}

}  // namespace gvb
