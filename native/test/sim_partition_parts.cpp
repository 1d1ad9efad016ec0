// Green contexts: how a card is split, and that kernels of a partition have its multiprocessors alone.
#include "sim_measure.h"

namespace test {

namespace {

constexpr unsigned kAll = 132;
constexpr unsigned long long kSpinNs = 1'000'000;

CUdevResource all_multiprocessors() {
  CUdevResource all{};
  CHECK_EQUAL(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  CHECK_EQUAL(all.sm.smCount, kAll);
  return all;
}

// At least 8, and a multiple of 8.
void rule() {
  const CUdevResource all = all_multiprocessors();
  const auto split = [&](unsigned least, unsigned most) {
    CUdevResource groups[32], remaining{};
    unsigned count = most;
    CHECK_EQUAL(cuDevSmResourceSplitByCount(groups, &count, &all, &remaining, 0, least), CUDA_SUCCESS);
    CHECK_EQUAL(remaining.sm.smCount, kAll - count * groups[0].sm.smCount);
    return std::make_pair(count, groups[0].sm.smCount);
  };
  CHECK(split(1, 1) == std::make_pair(1u, 8u));
  CHECK(split(9, 1) == std::make_pair(1u, 16u));
  CHECK(split(64, 4) == std::make_pair(2u, 64u));
  unsigned count = 0;
  CHECK_EQUAL(cuDevSmResourceSplitByCount(nullptr, &count, &all, nullptr, 0, 8), CUDA_SUCCESS);
  CHECK_EQUAL(count, 16u);
  CUdevResource one{};
  count = 1;
  CHECK_EQUAL(cuDevSmResourceSplitByCount(&one, &count, &all, nullptr, 0, kAll + 1),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  const CUdevResource made_up{};
  CHECK_EQUAL(cuDevSmResourceSplitByCount(&one, &count, &made_up, nullptr, 0, 8), CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

CUgreenCtx green_context(unsigned multiprocessors) {
  const CUdevResource all = all_multiprocessors();
  CUdevResource part{};
  unsigned count = 1;
  CHECK_EQUAL(cuDevSmResourceSplitByCount(&part, &count, &all, nullptr, 0, multiprocessors), CUDA_SUCCESS);
  CUdevResourceDesc description = nullptr;
  CHECK_EQUAL(cuDevResourceGenerateDesc(&description, &part, 1), CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  CHECK_EQUAL(cuGreenCtxCreate(&green, description, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  return green;
}

double took(CUstream stream, unsigned blocks) {
  CUdeviceptr at = 0, not_counted = 0;
  long long stamps[2] = {};
  unsigned long long spin = kSpinNs;
  CHECK_EQUAL(cuMemAlloc_v2(&at, sizeof stamps), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(at, 0, sizeof stamps), CUDA_SUCCESS);
  void* arguments[] = {&at, &spin, &not_counted};
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_occupy"), blocks, 1, 1, 1024, 1, 1, 0, stream, arguments, nullptr),
              CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(stamps, at, sizeof stamps), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(at), CUDA_SUCCESS);
  return double(stamps[1] - stamps[0]);
}

// The green context as the thread's own one: also its default stream and new streams are on the part.
void as_current(CUgreenCtx green, double alone) {
  CUcontext primary = nullptr, own = nullptr, current = nullptr;
  CHECK_EQUAL(cuCtxGetCurrent(&primary), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSetCurrent(reinterpret_cast<CUcontext>(green)), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQUAL(cuCtxFromGreenCtx(&own, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuCtxFromGreenCtx(&own, green), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSetCurrent(own), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  CHECK(current == own);
  CUstream stream = nullptr;
  CHECK_EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CHECK_NEAR(took(stream, 2 * kAll), alone * kAll / 64, 200);
  CHECK_NEAR(took(nullptr, 2 * kAll), alone * kAll / 64, 200);
  CHECK_EQUAL(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  CHECK_NEAR(took(nullptr, 2 * kAll), alone, 100);
}

}  // namespace

void green_contexts() {
  enter_primary();
  rule();
  const CUgreenCtx green = green_context(60);
  CUdevResource own{};
  CHECK_EQUAL(cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  CHECK_EQUAL(own.sm.smCount, 64u);
  CUstream part = nullptr, whole = nullptr;
  CHECK_EQUAL(cuGreenCtxStreamCreate(&part, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuGreenCtxStreamCreate(&part, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamCreate(&whole, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const double alone = kSpinNs + 1000;
  CHECK_NEAR(took(whole, 2 * kAll), alone, 100);
  CHECK_NEAR(took(part, 2 * kAll), alone * kAll / 64, 200);
  // What fits is not slower there.
  CHECK_NEAR(took(part, 64), alone, 100);
  as_current(green, alone);
  // Its streams end with it, and the context stays.
  CHECK_EQUAL(cuGreenCtxDestroy(green), CUDA_SUCCESS);
  CHECK_EQUAL(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuStreamSynchronize(part), CUDA_ERROR_INVALID_HANDLE);
  CHECK_NEAR(took(whole, 2 * kAll), alone, 100);
}

}  // namespace test
