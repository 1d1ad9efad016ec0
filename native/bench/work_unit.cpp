#include "bench/work_unit.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "driver/clock.h"
#include "kernels/ptx.h"

namespace gvb {

namespace {

constexpr unsigned kSide = 2048;
constexpr size_t kMatrix = size_t{kSide} * kSide;
constexpr size_t kFactorBytes = kMatrix * 2;
constexpr unsigned kHeads = 8, kTokens = 128, kWidth = 64;
constexpr size_t kAttention = size_t{kHeads} * kTokens * kWidth;
constexpr unsigned kSmallKernels = 64, kSmallWords = 1024;
constexpr unsigned kAllocations = 8;
constexpr size_t kAttentionBytes = kAttention * sizeof(float);
constexpr size_t kProductBytes = (size_t{1} << 20) - kAttentionBytes;  // of C, so that 1 MiB goes back
constexpr float kTolerance = 1e-3f;

// Small integers, exact in half precision, by which every element of C is known: A(i,k) = x(i)·s(k), B(k,j) = s(k)·y(j)
// with s(k) = ±1, so C(i,j) = 2048·x(i)·y(j).
int x_of(unsigned i) { return static_cast<int>(i % 7) - 3; }
int y_of(unsigned j) { return static_cast<int>(j % 5) - 2; }
int s_of(unsigned k) { return (k * 2654435761u >> 31) != 0 ? 1 : -1; }

uint16_t half_of(int small) {
  static constexpr uint16_t kMagnitudes[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  return static_cast<uint16_t>(kMagnitudes[std::abs(small)] | (small < 0 ? 0x8000 : 0));
}

// All values of a head are alike for every token, so whatever the weights, their weighted mean is known.
float value_of(size_t index) {
  return static_cast<float>(index % kWidth) / 8 + static_cast<float>(index / (kTokens * kWidth));
}

class Unit {
 public:
  explicit Unit(DeviceSession& session)
      : cuda_(session.cuda),
        module_(cuda_, gvb_ptx_work),
        gemm_(module_.function("gvb_gemm")),
        attention_(module_.function("gvb_attention")),
        small_(session.module.function("gvb_mix")),
        factors_(cuda_, 2 * kFactorBytes),
        results_(cuda_, kProductBytes + kAttentionBytes),
        a_(make_memory(cuda_, 2 * kFactorBytes)),
        c_(make_memory(cuda_, kMatrix * sizeof(float))),
        queries_(make_memory(cuda_, kAttentionBytes)),
        values_(make_memory(cuda_, kAttentionBytes)),
        out_(make_memory(cuda_, kAttentionBytes)),
        words_(make_memory(cuda_, kSmallWords * sizeof(uint32_t))) {
    fill_factors();
    fill_attention();
  }

  void run() {
    GVB_CALL(cuda_, "copying the factors", cuMemcpyHtoD_v2, a_.get(), factors_.host(), 2 * kFactorBytes);
    multiply();
    attend();
    for (unsigned i = 0; i < kSmallKernels; ++i) launch_small(i);
    allocate_and_free();
    auto* results = static_cast<char*>(results_.host());
    GVB_CALL(cuda_, "reading the product", cuMemcpyDtoH_v2, results, c_.get(), kProductBytes);
    GVB_CALL(cuda_, "reading the attention", cuMemcpyDtoH_v2, results + kProductBytes, out_.get(), kAttentionBytes);
  }

  void check() const {
    const auto* product = static_cast<const float*>(results_.host());
    for (size_t i = 0; i < kProductBytes / sizeof(float); ++i)
      if (product[i] != product_[i]) fail("the product", i, product_[i], product[i]);
    const float* attention = product + kProductBytes / sizeof(float);
    for (size_t i = 0; i < kAttention; ++i)
      if (!(std::abs(attention[i] - value_of(i)) <= kTolerance * (1 + value_of(i))))
        fail("the attention", i, value_of(i), attention[i]);
  }

 private:
  [[noreturn]] static void fail(const char* what, size_t index, float expected, float received) {
    throw Failure(FailureKind::kInvalidResult, "Expected value " + std::to_string(index) + " of " + what + " to be " +
                                                   std::to_string(expected) + " but received " +
                                                   std::to_string(received) + ".");
  }

  void fill_factors() {
    auto* a = static_cast<uint16_t*>(factors_.host());
    uint16_t* b = a + kMatrix;
    for (unsigned i = 0; i < kSide; ++i)
      for (unsigned k = 0; k < kSide; ++k) {
        a[size_t{i} * kSide + k] = half_of(x_of(i) * s_of(k));
        b[size_t{i} * kSide + k] = half_of(s_of(i) * y_of(k));
      }
    for (size_t i = 0; i < kProductBytes / sizeof(float); ++i)
      product_.push_back(static_cast<float>(static_cast<int>(kSide) * x_of(static_cast<unsigned>(i / kSide)) *
                                            y_of(static_cast<unsigned>(i % kSide))));
  }

  void fill_attention() {
    std::vector<float> queries(kAttention), values(kAttention);
    for (size_t i = 0; i < kAttention; ++i) {
      queries[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
      values[i] = value_of(i);
    }
    GVB_CALL(cuda_, "copying queries", cuMemcpyHtoD_v2, queries_.get(), queries.data(), kAttentionBytes);
    GVB_CALL(cuda_, "copying values", cuMemcpyHtoD_v2, values_.get(), values.data(), kAttentionBytes);
  }

  void multiply() {
    abi::CUdeviceptr a = a_.get(), b = a_.get() + kFactorBytes, c = c_.get();
    unsigned side = kSide;
    void* parameters[] = {&a, &b, &c, &side};
    launch(gemm_, kSide / 64, kSide / 64, 128, parameters);
  }

  void attend() {
    abi::CUdeviceptr queries = queries_.get(), values = values_.get(), out = out_.get();
    unsigned tokens = kTokens;
    void* parameters[] = {&queries, &queries, &values, &out, &tokens};
    launch(attention_, kHeads, 1, 256, parameters);
  }

  void launch_small(unsigned seed) {
    abi::CUdeviceptr words = words_.get();
    unsigned count = kSmallWords;
    void* parameters[] = {&words, &count, &seed};
    launch(small_, 4, 1, 256, parameters);
  }

  void launch(abi::CUfunction kernel, unsigned columns, unsigned rows, unsigned threads, void** parameters) {
    GVB_CALL(cuda_, "launching a kernel of the work unit", cuLaunchKernel, kernel, columns, rows, 1, threads, 1, 1, 0,
             nullptr, parameters, nullptr);
  }

  void allocate_and_free() {
    std::array<abi::CUdeviceptr, kAllocations> blocks{};
    for (abi::CUdeviceptr& block : blocks)
      GVB_CALL(cuda_, "allocating in the work unit", cuMemAlloc_v2, &block, size_t{2} << 20);
    for (const abi::CUdeviceptr block : blocks) GVB_CALL(cuda_, "freeing in the work unit", cuMemFree_v2, block);
  }

  const Cuda& cuda_;
  const Module module_;
  const abi::CUfunction gemm_, attention_, small_;
  const MappedMemory factors_, results_;
  const DeviceMemory a_, c_, queries_, values_, out_, words_;
  std::vector<float> product_;
};

template <class OnUnit>
void repeat(DeviceSession& session, Unit& unit, int64_t duration_ns, const OnUnit& on_unit) {
  const int64_t until = now_ns() + duration_ns;
  do {
    session.token.check();
    const int64_t began = now_ns();
    unit.run();
    const int64_t ended = now_ns();
    unit.check();
    on_unit(began, ended);
  } while (now_ns() < until);
}

}  // namespace

Work measure_work(DeviceSession& session, const WorkRequest& request) {
  Unit unit(session);
  repeat(session, unit, int64_t{request.warmup_ms} * 1'000'000, [](int64_t, int64_t) {});
  Work work{0, {}};
  int64_t first = 0;
  repeat(session, unit, int64_t{request.window_ms} * 1'000'000, [&](int64_t began, int64_t ended) {
    if (work.unit_ns.empty()) first = began;
    work.unit_ns.push_back(static_cast<double>(ended - began));
    work.elapsed_ns = static_cast<double>(ended - first);
  });
  return work;
}

}  // namespace gvb
