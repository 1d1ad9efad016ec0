// The emulator itself: instructions against their definition, and the kernel bugs that it must detect.
#include <string>
#include <vector>

#include "kernels/ampere.cuh"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

using gvb::emulator::Launch;
using gvb::emulator::run;

// The message of the launch's failure; empty: none.
std::string failure_of(const Launch& launch, const std::function<void()>& kernel) {
  try {
    run(launch, kernel);
  } catch (const gvb::emulator::Failure& failure) {
    return failure.what();
  }
  return "";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void test_indices() {
  std::vector<unsigned> seen(2 * 3 * 64);
  run({{2, 3, 1}, {32, 2, 1}, 0, 1, 1}, [&] {
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    ++seen[block * 64 + threadIdx.y * blockDim.x + threadIdx.x];
  });
  for (const unsigned times : seen) CHECK_EQUAL(times, 1u);
}

void test_shuffles() {
  run({{1, 1, 1}, {64, 1, 1}, 0, 1, 1}, [] {
    const unsigned lane = threadIdx.x % 32;
    CHECK_EQUAL(__shfl_xor_sync(~0u, threadIdx.x, 5u), threadIdx.x ^ 5u);
    CHECK_EQUAL(__shfl_down_sync(~0u, lane, 30u), lane < 2 ? lane + 30 : lane);
    CHECK_EQUAL(__shfl_up_sync(~0u, lane, 1u, 8u), lane % 8 == 0 ? lane : lane - 1);
    CHECK_EQUAL(__shfl_sync(~0u, lane, 3u), 3u);
    CHECK_EQUAL(__ballot_sync(~0u, lane < 3), 7u);
  });
}

// One product of 16 × 8 × 16 through shared memory, both operands in row-major order, B as [n][k] or as [k][n].
template <class Format>
void test_product(bool transposed) {
  const auto a = [](unsigned m, unsigned k) { return static_cast<float>(static_cast<int>(m * 3 + k * 5) % 17 - 8); };
  const auto b = [](unsigned k, unsigned n) { return static_cast<float>(static_cast<int>(n * 7 + k * 11) % 13 - 6); };
  run({{1, 1, 1}, {32, 1, 1}, 4096, 1, 1}, [&] {
    unsigned char* shared = dynamic_shared();
    const uint32_t base = shared_address(shared), other = base + 2048;
    for (unsigned i = threadIdx.x; i < 256; i += 32) {
      const unsigned row = i / 16, column = i % 16;
      const auto put = [&](uint32_t tile, float value) {
        const uint16_t bits = static_cast<uint16_t>(gvb::encode<Format>(value));
        std::memcpy(shared + (tile - base) + swizzled(row, column / 8) + column % 8 * 2, &bits, sizeof bits);
      };
      put(base, a(row, column));
      put(other, transposed ? b(row, column % 8) : b(column, row % 8));
    }
    __syncthreads();
    const unsigned lane = threadIdx.x;
    uint32_t left[4], right[4];
    load_matrices(left, base + swizzled(lane % 16, lane / 16));
    // The second half repeats the first: n has 8 values, ldmatrix loads for 16.
    if (transposed)
      load_matrices_transposed(right, other + swizzled(lane % 16, lane / 16));
    else
      load_matrices(right, other + swizzled(lane % 8 + lane / 16 * 8, lane / 8 % 2));
    float d[4] = {1, 1, 1, 1};
    multiply_add<Format>(d, left, right[0], right[1]);
    for (unsigned i = 0; i < 4; ++i) {
      float sum = 1;
      for (unsigned k = 0; k < 16; ++k) sum += a(lane / 4 + i / 2 * 8, k) * b(k, lane % 4 * 2 + i % 2);
      CHECK_EQUAL(d[i], sum);
    }
  });
}

void test_numbers() {
  const float2 half = unpack<gvb::F16>(pack<gvb::F16>(1.5f, -2.0f)), brain = unpack<gvb::Bf16>(pack<gvb::Bf16>(3, -4));
  CHECK_EQUAL(half.x, 1.5f);
  CHECK_EQUAL(half.y, -2.0f);
  CHECK_EQUAL(brain.x, 3.0f);
  CHECK_EQUAL(brain.y, -4.0f);
}

// Each thread copies for its neighbour in the next warp. Wrong with some seed if the wait or the barrier is missing.
bool copies_arrive(uint64_t seed, bool wait, bool barrier) {
  std::vector<uint4> source(64);
  for (unsigned i = 0; i < 64; ++i) source[i] = {i + 1, 0, 0, 0};
  bool right = true;
  run({{1, 1, 1}, {64, 1, 1}, 64 * 16, 1, seed}, [&] {
    const uint32_t base = shared_address(dynamic_shared());
    copy_async_16(base + threadIdx.x * 16, &source[threadIdx.x], threadIdx.x != 5);
    commit_copies();
    if (wait) wait_copies<0>();
    if (barrier) __syncthreads();
    const unsigned other = (threadIdx.x + 32) % 64;
    right = right && load_shared_16(base + other * 16).x == (other == 5 ? 0 : other + 1);
  });
  return right;
}

void test_missing_waits() {
  bool without_wait = true, without_barrier = true;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CHECK(copies_arrive(seed, true, true));
    without_wait = without_wait && copies_arrive(seed, false, true);
    without_barrier = without_barrier && copies_arrive(seed, true, false);
  }
  CHECK(!without_wait);
  CHECK(!without_barrier);
}

void test_failures() {
  const Launch two_warps = {{1, 1, 1}, {64, 1, 1}, 1024, 1, 1};
  const std::string deadlock = failure_of(two_warps, [] {
    if (threadIdx.x < 32) sync_barrier(1, 64);
  });
  CHECK(contains(deadlock, "thread 0 waits for a barrier"));
  const std::string beyond = failure_of(two_warps, [] { store_shared(shared_address(dynamic_shared()) + 1024, 1); });
  CHECK(contains(beyond, "is accessed at 1024"));
  const std::string misaligned = failure_of(two_warps, [] { load_shared_16(shared_address(dynamic_shared()) + 8); });
  CHECK(contains(misaligned, "misaligned"));
  const std::string diverged = failure_of(two_warps, [] {
    if (threadIdx.x % 2 == 0)
      __syncwarp();
    else
      __shfl_xor_sync(~0u, 1, 1u);
  });
  CHECK(contains(diverged, "diverge"));
}

}  // namespace

void test_emulator() {
  test_indices();
  test_shuffles();
  test_product<gvb::F16>(false);
  test_product<gvb::F16>(true);
  test_product<gvb::Bf16>(false);
  test_numbers();
  test_missing_waits();
  test_failures();
}
