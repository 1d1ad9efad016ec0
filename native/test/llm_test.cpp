// The number formats and the kernels of language models on the simulated GPU.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bench/llm/gemm_rate.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/tensor_map.h"
#include "bench/nccl/part_value.h"
#include "test/check.h"

using namespace gvb;

namespace {

// The value of a format's bits by its definition (IEEE 754-2019, 3.4; for E4M3 the Open Compute Project's FP8).
template <class Format>
double defined_value(uint32_t bits) {
  const uint32_t fraction = bits & ((1u << Format::kMantissa) - 1), exponent = bits >> Format::kMantissa;
  const int bias = (1 << (Format::kExponent - 1)) - 1;
  const double significand = (exponent == 0 ? 0 : 1) + std::ldexp(fraction, -static_cast<int>(Format::kMantissa));
  return std::ldexp(significand, (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias);
}

// Every finite value of a format is as defined, decodes and encodes to itself, and the middle of two neighbours rounds
// to the even one.
template <class Format>
void test_format() {
  const uint32_t largest = Format::kLargest;
  for (uint32_t bits = 0; bits <= largest; ++bits) {
    const float value = decode<Format>(bits);
    CHECK_EQUAL(double{value}, defined_value<Format>(bits));
    CHECK_EQUAL(encode<Format>(value), bits);
    CHECK_EQUAL(decode<Format>(encode<Format>(-value)), -value);
    if (bits == largest) continue;
    const float next = decode<Format>(bits + 1), middle = value + (next - value) / 2;
    CHECK(next > value);
    if (bits == 0 && Format::kExponent == 8) continue;  // the middle is below single precision's smallest value
    CHECK_EQUAL(encode<Format>(middle), bits % 2 == 0 ? bits : bits + 1);
    CHECK_EQUAL(encode<Format>(std::nextafter(middle, 0.0f)), bits);
    CHECK_EQUAL(encode<Format>(std::nextafter(middle, next)), bits + 1);
  }
  CHECK_EQUAL(encode<Format>(std::numeric_limits<float>::infinity()), Format::kOverflow);
  CHECK(std::isnan(decode<Format>(encode<Format>(std::nanf("")))));
}

void test_formats() {
  test_format<F16>();
  test_format<Bf16>();
  test_format<E4m3>();
  CHECK_EQUAL(decode<F16>(0x3c00), 1.0f);
  CHECK_EQUAL(decode<F16>(0x0001), std::ldexp(1.0f, -24));
  CHECK_EQUAL(decode<F16>(0x7bff), 65504.0f);
  CHECK_EQUAL(decode<Bf16>(0x3f80), 1.0f);
  CHECK_EQUAL(decode<E4m3>(0x38), 1.0f);
  CHECK_EQUAL(decode<E4m3>(0x01), std::ldexp(1.0f, -9));
  CHECK_EQUAL(decode<E4m3>(0x7e), 448.0f);
  CHECK(std::isinf(decode<F16>(0x7c00)) && std::isinf(decode<Bf16>(0xff80)));
}

// The first outputs of SplitMix64 from the state 1234567, as its published implementations give them; the others were
// computed with integers of any size in another language.
void test_random_numbers() {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  const uint64_t outputs[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                              16408922859458223821u};
  uint64_t state = 1234567;
  for (const uint64_t output : outputs) CHECK_EQUAL(mixed(state += kStep), output);
  CHECK_EQUAL(part_value(0, 0, 0), 0u);
  CHECK_EQUAL(part_value(12345, 7, 99), 332488u);
  CHECK_EQUAL(part_value((uint64_t{1} << 40) + 3, 15, 0xffffffff), 161844u);
  CHECK_NEAR(normal_value(7, 0), 1.2125041, 1e-6);
  CHECK_NEAR(normal_value(42, 123456789), -0.827155, 1e-6);
}

void test_normal_moments() {
  constexpr int kCount = 1'000'000;
  double sum = 0, squares = 0, within = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = normal_value(7, static_cast<uint64_t>(i));
    sum += value;
    squares += value * value;
    within += std::abs(value) < 1 ? 1 : 0;
  }
  // Within five standard errors; a third of a normal distribution lies beyond one standard deviation.
  CHECK_NEAR(sum / kCount, 0, 0.005);
  CHECK_NEAR(squares / kCount, 1, 0.007);
  CHECK_NEAR(within / kCount, 0.6827, 0.01);
  CHECK(normal_value(7, 0) != normal_value(8, 0) && normal_value(7, 0) != normal_value(7, 1));
}

void test_fill(DeviceSession& session, Number number) {
  constexpr uint64_t kCount = 5000, kSeed = 42;
  const size_t bytes = kCount * bytes_of(number);
  const DeviceMemory memory = make_memory(session.cuda, bytes + 64);
  std::vector<uint8_t> read(bytes + 64);
  GVB_CALL(session.cuda, "clearing", cuMemsetD8_v2, memory.get(), 0xa5, bytes + 64);
  fill_normal(session, nullptr, {memory.get(), kCount, number, kSeed});
  GVB_CALL(session.cuda, "reading", cuMemcpyDtoH_v2, read.data(), memory.get(), bytes + 64);
  std::vector<uint8_t> expected(bytes);
  for (uint64_t i = 0; i < kCount; ++i) store_number(expected.data(), i, normal_value(kSeed, i), number);
  CHECK(std::equal(expected.begin(), expected.end(), read.begin()));
  for (size_t i = bytes; i < bytes + 64; ++i) CHECK_EQUAL(read[i], 0xa5);
}

// Columns 3 to 7 of rows 2 to 5 of a matrix with rows of 11 numbers.
void test_fill_part(DeviceSession& session, Number number) {
  constexpr uint64_t kRows = 4, kColumns = 5, kStride = 11, kFirst = 2 * kStride + 3, kSeed = 42;
  const size_t each = bytes_of(number), bytes = kRows * kColumns * each;
  const DeviceMemory whole = make_memory(session.cuda, kFirst * each + kRows * kStride * each);
  const DeviceMemory part = make_memory(session.cuda, bytes);
  fill_normal(session, nullptr, {whole.get(), kFirst + kRows * kStride, number, kSeed});
  fill_normal_part(session, nullptr, {part.get(), kRows, kColumns, kStride, kFirst, number, kSeed});
  std::vector<uint8_t> expected(bytes), read(bytes);
  for (uint64_t row = 0; row < kRows; ++row)
    GVB_CALL(session.cuda, "reading", cuMemcpyDtoH_v2, &expected[row * kColumns * each],
             whole.get() + (kFirst + row * kStride) * each, kColumns * each);
  GVB_CALL(session.cuda, "reading", cuMemcpyDtoH_v2, read.data(), part.get(), bytes);
  CHECK(read == expected);
}

std::string refusal(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const CallFailure& failure) {
    return failure.name;
  }
  return "";
}

// What the driver API's reference rules out.
void test_tensor_maps(const DeviceSession& session) {
  const DeviceMemory memory = make_memory(session.cuda, 1 << 20);
  const auto map = [&](abi::CUdeviceptr at, Number number, TensorDimension inner, TensorDimension outer) {
    return refusal([&] { swizzled_tensor(session.cuda, at, number, {inner, outer}); });
  };
  const abi::CUdeviceptr at = memory.get();
  CHECK(map(at, Number::kBf16, {256, 1, 64}, {128, 256, 128}).empty());
  CHECK(map(at, Number::kE4m3, {256, 1, 128}, {128, 256, 128}).empty());
  CHECK(map(at + 8, Number::kBf16, {256, 1, 64}, {128, 256, 128}) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(map(at, Number::kBf16, {256, 1, 128}, {128, 256, 128}) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(map(at, Number::kBf16, {250, 1, 64}, {128, 250, 128}) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(map(at, Number::kBf16, {256, 1, 64}, {128, 256, 512}) == "CUDA_ERROR_INVALID_VALUE");
}

void test_shared_memory(const DeviceSession& session) {
  const abi::CUfunction kernel = session.module.function("gvb_empty");
  const auto launch = [&](unsigned bytes) {
    return refusal([&] {
      GVB_CALL(session.cuda, "launching", cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, bytes, nullptr, nullptr, nullptr);
    });
  };
  constexpr unsigned kMost = 227 * 1024;
  CHECK(launch(48 * 1024).empty());
  CHECK(launch(kMost) == "CUDA_ERROR_INVALID_VALUE");
  allow_shared_memory(session.cuda, kernel, kMost);
  CHECK(launch(kMost).empty());
  CHECK(refusal([&] { allow_shared_memory(session.cuda, kernel, kMost + 1); }) == "CUDA_ERROR_INVALID_VALUE");
}

GemmRatesRequest gemm_request(unsigned side) {
  GemmRatesRequest request;
  request.side = side;
  request.rounds = 2;
  request.least_launches = 30;
  request.seed = 5;
  return request;
}

// With edges of tiles, and so large that a launch takes the device longer than the host, also one that a sanitizer
// slows down. The simulator computes only the elements that are read.
constexpr unsigned kEdges = 8208;

// Every format of the card.
void test_gemm(DeviceSession& session) {
  for (const unsigned side : {kEdges, 8192u}) {
    const GemmRates rates = measure_gemm(session, gemm_request(side));
    CHECK_EQUAL(rates.rates.size(), size_t{4});
    CHECK(rates.compute_capability == "9.0" && rates.multiprocessors == 132);
    for (const GemmRate& rate : rates.rates) {
      CHECK(rate.unsupported.empty());
      CHECK(rate.variant == (rate.number == Number::kF32 ? "fma sm_75" : "wgmma sm_90a"));
      CHECK_EQUAL(rate.launch_flops, 2.0 * side * side * side);
      CHECK_EQUAL(rate.launch_ns.size(), size_t{2});
      CHECK(rate.launches >= 30 && rate.sampled == 512 && rate.sm_clock_mhz);
      CHECK(rate.worst_error < (rate.number == Number::kF32 ? 1e-5 : 0.02));
    }
  }
}

using Launch = decltype(CudaApi::cuLaunchKernel);
Launch real_launch = nullptr;
unsigned launches = 0;

// A driver with a replaced cuLaunchKernel, as under a layer.
class ReplacedLaunch {
 public:
  ReplacedLaunch(const DeviceSession& session, Launch other) : api_(const_cast<CudaApi&>(session.cuda.api)) {
    real_launch = api_.cuLaunchKernel;
    api_.cuLaunchKernel = other;
  }
  ~ReplacedLaunch() { api_.cuLaunchKernel = real_launch; }
  ReplacedLaunch(const ReplacedLaunch&) = delete;
  ReplacedLaunch& operator=(const ReplacedLaunch&) = delete;

 private:
  CudaApi& api_;
};

std::string message_of(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const Failure& failure) {
    return failure.kind() == FailureKind::kInvalidResult ? failure.what() : "";
  }
  return "";
}

// Launches that report success without running, and wrong elements.
void test_gemm_of_layers(DeviceSession& session) {
  {
    const ReplacedLaunch skipping(
        session, [](abi::CUfunction kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                    unsigned shared, abi::CUstream stream, void** values, void** extra) {
          if (shared > 0 && ++launches % 5 == 0) return abi::CUDA_SUCCESS;
          return real_launch(kernel, x, y, z, a, b, c, shared, stream, values, extra);
        });
    const std::string message = message_of([&] { measure_gemm(session, gemm_request(kEdges)); });
    CHECK(message.find("the device ran") != std::string::npos);
  }
  {
    // All blocks are counted, but the product uses another A.
    const ReplacedLaunch mistaken(
        session, [](abi::CUfunction kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                    unsigned shared, abi::CUstream stream, void** values, void** extra) {
          // Only products use shared memory; other kernels have fewer arguments.
          if (shared == 0) return real_launch(kernel, x, y, z, a, b, c, shared, stream, values, extra);
          void* swapped[] = {values[1], values[1], values[2], values[3], values[4], values[5], values[6]};
          return real_launch(kernel, x, y, z, a, b, c, shared, stream, swapped, extra);
        });
    GemmRatesRequest request = gemm_request(kEdges);
    request.number = Number::kF32;
    const std::string message = message_of([&] { measure_gemm(session, request); });
    CHECK(message.find("differs from double precision") != std::string::npos);
  }
}

}  // namespace

int main() {
  test_formats();
  test_random_numbers();
  test_normal_moments();
  const Driver& driver = Driver::load(std::nullopt);
  CHECK(driver.simulated);
  const CancelToken token;
  DeviceSession session(driver, DeviceTarget(), token);
  for (const Number number : {Number::kF16, Number::kBf16, Number::kF32, Number::kE4m3}) {
    test_fill(session, number);
    test_fill_part(session, number);
  }
  test_tensor_maps(session);
  test_shared_memory(session);
  test_gemm(session);
  test_gemm_of_layers(session);
  return test::report("llm_test");
}
