// Skinny products and memory streams on the simulated GPU.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/block_counter.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/skinny.h"
#include "bench/llm/stream.h"
#include "test/check.h"

using namespace gvb;

namespace {

constexpr uint64_t kSeed = 42;

double value_of(const SkinnyShape& shape, uint64_t seed, uint64_t index) {
  uint8_t bytes[4];
  store_number(bytes, 0, normal_value(seed, index), shape.number);
  return load_number(bytes, 0, shape.number);
}

void test_product(DeviceSession& session, const SkinnyShape& shape) {
  const size_t each = bytes_of(shape.number), outputs = size_t{shape.m} * shape.n;
  const size_t inputs = size_t{shape.m} * shape.k, weights = size_t{shape.n} * shape.k;
  const DeviceMemory x = make_memory(session.cuda, inputs * each), w = make_memory(session.cuda, weights * each),
                     y = make_memory(session.cuda, outputs * each);
  fill_normal(session, nullptr, {x.get(), inputs, shape.number, kSeed});
  fill_normal(session, nullptr, {w.get(), weights, shape.number, kSeed + 1});
  const BlockCounter counter(session.cuda);
  const SkinnyGemm product(session, shape);
  for (int i = 0; i < 3; ++i) product.launch(nullptr, {x.get(), w.get(), y.get()}, counter.device());
  counter.check(3 * product.blocks(), "cuLaunchKernel");
  std::vector<uint8_t> read(outputs * each);
  GVB_CALL(session.cuda, "reading", cuMemcpyDtoH_v2, read.data(), y.get(), read.size());
  for (size_t m = 0; m < shape.m; ++m)
    for (size_t n = 0; n < shape.n; ++n) {
      double expected = 0;
      for (size_t k = 0; k < shape.k; ++k)
        expected += value_of(shape, kSeed, m * shape.k + k) * value_of(shape, kSeed + 1, n * shape.k + k);
      const double tolerance = 0.01 * std::sqrt(shape.k);
      CHECK_NEAR(load_number(read.data(), m * shape.n + n, shape.number), expected,
                 tolerance + 0.01 * std::abs(expected));
    }
}

void test_counts(DeviceSession& session) {
  const SkinnyGemm product(session, {Number::kF16, 2, 96, 128});
  CHECK_EQUAL(product.flops(), 2.0 * 2 * 96 * 128);
  CHECK_EQUAL(product.bytes(), 2.0 * (96 * 128 + 2 * 128 + 2 * 96));
}

void test_refusals(DeviceSession& session) {
  for (const SkinnyShape& shape : {SkinnyShape{Number::kF32, 1, 64, 64}, SkinnyShape{Number::kF16, 65, 64, 64},
                                   SkinnyShape{Number::kF16, 0, 64, 64}, SkinnyShape{Number::kF16, 1, 64, 96}}) {
    bool refused = false;
    try {
      const SkinnyGemm product(session, shape);
    } catch (const Failure& failure) {
      refused = failure.kind() == FailureKind::kInvalidResult;
    }
    CHECK(refused);
  }
}

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr unsigned kBatches = 20;
// A kernel takes long enough that a host which is slow, or under a sanitizer, launches the next one in time.
constexpr uint64_t kStreamBytes = 32 * kMiB;

StreamTimes stream(DeviceSession& session, StreamKind kind, unsigned least_launches = 5) {
  StreamRequest request;
  request.kind = kind;
  request.bytes = kStreamBytes;
  request.batches = kBatches;
  request.least_launches = least_launches;
  return measure_stream(session, request);
}

// At 100 GB/s, plus a microsecond for every kernel.
void test_streams(DeviceSession& session) {
  for (const StreamKind kind : {StreamKind::kRead, StreamKind::kWrite, StreamKind::kCopy}) {
    const StreamTimes times = stream(session, kind);
    const double bytes = (kind == StreamKind::kCopy ? 2.0 : 1.0) * kStreamBytes;
    CHECK_EQUAL(times.moved_bytes, bytes);
    CHECK_EQUAL(times.launch_ns.size(), size_t{kBatches});
    // A busy machine may keep the host from launching in time; only the shortest batch is determined by the card alone.
    const double shortest = *std::min_element(times.launch_ns.begin(), times.launch_ns.end());
    CHECK_NEAR(shortest, bytes / 100 + 1000, 0.02 * bytes / 100);
  }
}

// What a layer could do to make memory look fast.
using Launch = decltype(CudaApi::cuLaunchKernel);
using Elapsed = decltype(CudaApi::cuEventElapsedTime);
Launch real_launch;
Elapsed real_elapsed;
int launches = 0;

abi::CUresult skip_some(abi::CUfunction kernel, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, abi::CUstream stream, void** parameters, void** extra) {
  if (++launches % 9 == 0) return abi::CUDA_SUCCESS;
  return real_launch(kernel, x, y, z, block_x, block_y, block_z, shared, stream, parameters, extra);
}

abi::CUresult launch_a_part(abi::CUfunction kernel, unsigned x, unsigned y, unsigned z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, abi::CUstream stream,
                            void** parameters, void** extra) {
  return real_launch(kernel, (x + 1) / 2, y, z, block_x, block_y, block_z, shared, stream, parameters, extra);
}

abi::CUresult say_less(float* ms, abi::CUevent begin, abi::CUevent end) {
  const abi::CUresult code = real_elapsed(ms, begin, end);
  *ms *= 0.001f;
  return code;
}

// Two calibrations of a launch's duration, and every counted batch.
constexpr int kCounted = 2 + static_cast<int>(kBatches);

// Stops once the counted batches are over.
abi::CUresult say_less_at_first(float* ms, abi::CUevent begin, abi::CUevent end) {
  static int calls = 0;
  return ++calls <= kCounted ? say_less(ms, begin, end) : real_elapsed(ms, begin, end);
}

template <class Function>
void check_caught(const Driver& driver, Function CudaApi::*which, Function by, StreamKind kind, const char* how,
                  unsigned least_launches = 5) {
  const DeviceTarget target;
  CudaApi& api = driver.tables.by_path[static_cast<size_t>(target.path)];
  const Function real = api.*which;
  bool caught = false;
  const CancelToken token;
  DeviceSession session(driver, target, token);
  api.*which = by;
  try {
    stream(session, kind, least_launches);
  } catch (const Failure& failure) {
    caught =
        failure.kind() == FailureKind::kInvalidResult && std::string(failure.what()).find(how) != std::string::npos;
    if (!caught) std::fprintf(stderr, "%s\n", failure.what());
  }
  api.*which = real;
  CHECK(caught);
}

void test_layers(const Driver& driver) {
  const CudaApi& api = driver.tables.of(DeviceTarget().path);
  real_launch = api.cuLaunchKernel;
  real_elapsed = api.cuEventElapsedTime;
  for (const StreamKind kind : {StreamKind::kRead, StreamKind::kWrite, StreamKind::kCopy}) {
    check_caught(driver, &CudaApi::cuLaunchKernel, Launch{skip_some}, kind,
                 "a call reported success without doing its work");
    check_caught(driver, &CudaApi::cuLaunchKernel, Launch{launch_a_part}, kind,
                 "a call reported success without doing its work");
  }
  // Enough to take the host longer than its wake-up may: it does not wait for a simulated device.
  check_caught(driver, &CudaApi::cuEventElapsedTime, Elapsed{say_less}, StreamKind::kWrite, "the host's clock", 200);
  check_caught(driver, &CudaApi::cuEventElapsedTime, Elapsed{say_less_at_first}, StreamKind::kWrite, "the host's clock",
               200);
}

}  // namespace

int main() {
  setenv("GVB_SIM", (std::string(std::getenv("GVB_SIM")) + ",dram_gbs=100").c_str(), 1);
  const Driver& driver = Driver::load(std::nullopt);
  CHECK(driver.simulated);
  const CancelToken token;
  DeviceSession session(driver, DeviceTarget(), token);
  for (const Number number : {Number::kF16, Number::kBf16})
    for (const unsigned m : {1u, 5u, 64u}) test_product(session, {number, m, 72, 192});
  test_counts(session);
  test_refusals(session);
  test_streams(session);
  test_layers(driver);
  return test::report("llm_stream_test");
}
