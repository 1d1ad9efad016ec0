#include "bench/llm/gemm_rate.h"

#include <cstdio>
#include <memory>

#include "base/secret.h"
#include "bench/block_counter.h"
#include "bench/llm/gemm_check.h"
#include "bench/llm/loaded_clock.h"
#include "bench/llm/normal.h"

namespace gvb {

namespace {

constexpr unsigned kGemmPoison = 0xffffffff;  // NaN in every format

std::vector<Number> numbers_of(std::optional<Number> only) {
  if (only) return {*only};
  return {Number::kF32, Number::kF16, Number::kBf16, Number::kE4m3};
}

// One format: its matrices and results so far.
class Product {
 public:
  Product(DeviceSession& session, const GemmShape& shape, uint64_t seed)
      : session_(session),
        cuda_(session.cuda),
        shape_(shape),
        seed_(seed),
        gemm_(session, shape),
        counter_(cuda_),
        a_(make_memory(cuda_, inputs() * bytes_of(shape.number))),
        b_(make_memory(cuda_, inputs() * bytes_of(shape.number))),
        c_(make_memory(cuda_, outputs() * bytes_of(gemm_.output()))),
        timer_(session) {
    fill_normal(session, timer_.stream(), {a_.get(), inputs(), shape.number, seed});
    fill_normal(session, timer_.stream(), {b_.get(), inputs(), shape.number, seed + 1});
    clear();
  }

  void prepare(const BatchLength& length) { rate_.launches = timer_.launches_of_batch(length, launch_); }

  void time() {
    clear();
    batches_.push_back(time_with_clock(session_, timer_, rate_.launches, launch_, rate_.sm_clock_mhz));
    counter_.check(launched_ * gemm_.blocks(), "cuLaunchKernel");
  }

  GemmRate rate() {
    timer_.check_events(batches_, "matrix products", launch_);
    for (const LaunchBatch& batch : batches_) rate_.launch_ns.push_back(batch.launch_ns());
    rate_.number = shape_.number;
    rate_.variant = gemm_.variant();
    rate_.launch_flops = gemm_.flops();
    rate_.launch_bytes = gemm_.bytes();
    const ProductSample chosen = sample(seed_), unknown = sample(secret());
    rate_.sampled = chosen.elements + unknown.elements;
    rate_.worst_error = std::max(chosen.worst_error, unknown.worst_error);
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(chosen.checksum));
    rate_.checksum = text;
    return rate_;
  }

 private:
  uint64_t inputs() const { return uint64_t{shape_.m} * shape_.k; }
  uint64_t outputs() const { return uint64_t{shape_.m} * shape_.n; }
  Gemm::Operands operands() const { return {a_.get(), b_.get(), c_.get()}; }

  void launch(abi::CUstream stream) {
    ++launched_;
    gemm_.launch(stream, operands(), counter_.device());
  }

  // Clears what earlier launches left.
  void clear() const {
    GVB_CALL(cuda_, "clearing the output", cuMemsetD32_v2, c_.get(), kGemmPoison,
             outputs() * bytes_of(gemm_.output()) / sizeof kGemmPoison);
    GVB_CALL(cuda_, "waiting for a cleared output", cuCtxSynchronize);
  }

  ProductSample sample(uint64_t seed) const {
    std::mt19937_64 random(seed);
    const ProductSample sample = sample_product(cuda_, shape_, operands(), random);
    if (sample.worst_allowed <= 1) return sample;
    throw Failure(FailureKind::kInvalidResult,
                  std::string("a call reported success without doing its work: a product of ") +
                      name_of(shape_.number) + " matrices differs from double precision by " +
                      std::to_string(sample.worst_allowed) + " times what its rounding allows.");
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const GemmShape shape_;
  const uint64_t seed_;
  Gemm gemm_;
  const BlockCounter counter_;
  const DeviceMemory a_, b_, c_;
  LaunchTimer timer_;
  const LaunchTimer::Launch launch_ = [this](abi::CUstream stream) { launch(stream); };
  uint64_t launched_ = 0;
  std::vector<LaunchBatch> batches_;
  GemmRate rate_;
};

struct Row {
  GemmRate rate;
  std::unique_ptr<Product> product;  // null if the device has no kernel
};

Row make_row(DeviceSession& session, const GemmRatesRequest& request, Number number) {
  Row row;
  row.rate.number = number;
  const GemmShape shape = {number, request.side, request.side, request.side};
  try {
    row.product = std::make_unique<Product>(session, shape, request.seed);
    row.product->prepare({request.least_launches, request.least_ns});
  } catch (const Failure& failure) {
    if (failure.kind() != FailureKind::kFunctionMissing) throw;
    row.product.reset();
    row.rate.unsupported = failure.what();
  }
  return row;
}

}  // namespace

GemmRates measure_gemm(DeviceSession& session, const GemmRatesRequest& request) {
  std::vector<Row> rows;
  for (const Number number : numbers_of(request.number)) rows.push_back(make_row(session, request, number));
  // Alternates between formats, so that drift affects all of them alike.
  for (unsigned round = 0; round < request.rounds; ++round)
    for (const Row& row : rows)
      if (row.product) row.product->time();
  GemmRates rates;
  rates.compute_capability = compute_capability(session.cuda, session.device).text();
  rates.multiprocessors = multiprocessors_of(session);
  for (const Row& row : rows) rates.rates.push_back(row.product ? row.product->rate() : row.rate);
  return rates;
}

}  // namespace gvb
