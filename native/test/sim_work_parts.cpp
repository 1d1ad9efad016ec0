#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "sim_measure.h"

namespace test {

void kernels() {
  enter_primary();
  CUdeviceptr words = 0;
  const unsigned count = 1000;
  const unsigned seed = 7;
  CHECK_EQUAL(cuMemAlloc_v2(&words, count * 4), CUDA_SUCCESS);
  void* mix[] = {&words, const_cast<unsigned*>(&count), const_cast<unsigned*>(&seed)};
  CHECK_EQUAL(launch(kernel("gvb_mix"), nullptr, mix), CUDA_SUCCESS);
  std::vector<unsigned> host(count);
  CHECK_EQUAL(cuMemcpyDtoH_v2(host.data(), words, count * 4), CUDA_SUCCESS);
  for (unsigned i = 0; i < count; ++i) CHECK_EQUAL(host[i], (i + seed) * 2654435761u);

  CUdeviceptr steps = 0;
  const unsigned step_count = 100;
  CHECK_EQUAL(cuMemAlloc_v2(&steps, step_count * 8), CUDA_SUCCESS);
  void* step_arguments[] = {&steps, const_cast<unsigned*>(&step_count)};
  const long long from = raw_now();
  CHECK_EQUAL(launch(kernel("gvb_timer_steps"), nullptr, step_arguments), CUDA_SUCCESS);
  std::vector<unsigned long long> times(step_count);
  CHECK_EQUAL(cuMemcpyDtoH_v2(times.data(), steps, step_count * 8), CUDA_SUCCESS);
  for (unsigned i = 1; i < step_count; ++i) CHECK_EQUAL(times[i] - times[i - 1], 32ULL);
  CHECK(since_host(times[0], from) >= 4500 - kTimerStepNs && since_host(times[step_count - 1], raw_now()) <= 0);

  CHECK_EQUAL(launch(kernel("gvb_empty"), nullptr, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(launch(kernel("foreign"), nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_empty"), 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_empty"), 1, 1, 1, 1025, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  void* extra[] = {nullptr};
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_empty"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
              CUDA_ERROR_NOT_SUPPORTED);
  CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, 0};
  CHECK_EQUAL(cuLaunchKernelEx(&config, kernel("gvb_empty"), nullptr, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuLaunchCooperativeKernel(kernel("gvb_empty"), 132, 1, 1, 32, 1, 1, 0, nullptr, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuLaunchCooperativeKernel(kernel("gvb_empty"), 1 << 20, 1, 1, 32, 1, 1, 0, nullptr, nullptr), 720);

  CUdeviceptr wild = 0x1000;
  void* wild_mix[] = {&wild, const_cast<unsigned*>(&count), const_cast<unsigned*>(&seed)};
  CHECK_EQUAL(launch(kernel("gvb_mix"), nullptr, wild_mix), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK_EQUAL(cuMemAlloc_v2(&wild, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
}

namespace {

// Runs a kernel of `blocks` blocks of 1024 threads that spin for `spin` ns, waits for it, and returns its two stamps.
std::vector<unsigned long long> occupied(unsigned blocks, unsigned long long spin) {
  CUdeviceptr at = 0;
  std::vector<unsigned long long> stamps(2);
  CHECK_EQUAL(cuMemAlloc_v2(&at, 16), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(at, 0, 16), CUDA_SUCCESS);
  CUdeviceptr not_counted = 0;
  void* arguments[] = {&at, &spin, &not_counted};
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_occupy"), blocks, 1, 1, 1024, 1, 1, 0, nullptr, arguments, nullptr),
              CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  const long long now = raw_now();
  CHECK_EQUAL(cuMemcpyDtoH_v2(stamps.data(), at, 16), CUDA_SUCCESS);
  CHECK(since_host(stamps[1], now) <= 0);
  CHECK_EQUAL(cuMemFree_v2(at), CUDA_SUCCESS);
  return stamps;
}

}  // namespace

// 132 multiprocessors with two such blocks each: 264 run at a time. An empty kernel takes 1000 ns.
void occupying() {
  enter_primary();
  const auto duration = [](unsigned blocks, unsigned long long spin) {
    const std::vector<unsigned long long> stamps = occupied(blocks, spin);
    return double(stamps[1] - stamps[0]);
  };
  CHECK_NEAR(duration(1, 2000), 3000, 64);
  CHECK_NEAR(duration(264, 2000), 3000, 64);
  CHECK_NEAR(duration(265, 2000), 5000, 64);
  CHECK_NEAR(duration(132000, 2000), 1001000, 64);
  CHECK_NEAR(duration(2147483647, 0), 1000, 64);

  CUdeviceptr at = 0;
  const unsigned long long spin = 2000;
  const unsigned long long later[] = {0, ~0ULL};
  unsigned long long stamps[2] = {};
  CHECK_EQUAL(cuMemAlloc_v2(&at, 16), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyHtoD_v2(at, later, 16), CUDA_SUCCESS);
  CUdeviceptr counter = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&counter, 8), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(counter, 0, 8), CUDA_SUCCESS);
  void* arguments[] = {&at, const_cast<unsigned long long*>(&spin), &counter};
  CHECK_EQUAL(launch(kernel("gvb_occupy"), nullptr, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(stamps, at, 16), CUDA_SUCCESS);
  CHECK(stamps[0] != 0);
  CHECK(stamps[1] == ~0ULL);  // the largest value stays

  void* counting[] = {&counter};
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_count"), 3, 2, 5, 32, 1, 1, 0, nullptr, counting, nullptr), CUDA_SUCCESS);
  unsigned long long blocks = 0;
  CHECK_EQUAL(cuMemcpyDtoH_v2(&blocks, counter, 8), CUDA_SUCCESS);
  CHECK_EQUAL(blocks, 1ULL + 30);
}

namespace {

// The product of 4 × 4 half-precision matrices in row-major order.
std::vector<float> product(const std::vector<uint16_t>& a, const std::vector<uint16_t>& b) {
  CUdeviceptr at = 0;
  unsigned side = 4;
  std::vector<float> c(16);
  CHECK_EQUAL(cuMemAlloc_v2(&at, 128), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyHtoD_v2(at, a.data(), 32), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyHtoD_v2(at + 32, b.data(), 32), CUDA_SUCCESS);
  CUdeviceptr second = at + 32, result = at + 64;
  void* arguments[] = {&at, &second, &result, &side};
  CHECK_EQUAL(launch(kernel("gvb_gemm"), nullptr, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(c.data(), result, 64), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(at), CUDA_SUCCESS);
  return c;
}

}  // namespace

void multiplying() {
  enter_primary();
  constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000, kThree = 0x4200, kMinusOne = 0xbc00;
  const std::vector<uint16_t> b = {kOne,   kTwo, kThree, 0,    kOne, kOne, kTwo, kMinusOne,
                                   kThree, 0,    kOne,   kTwo, kTwo, kTwo, kOne, kOne};
  const std::vector<uint16_t> permuted = {0, kTwo, 0, 0, kOne, 0, 0, 0, 0, 0, 0, kOne, 0, 0, kMinusOne, 0};
  CHECK(product(permuted, b) == (std::vector<float>{2, 2, 4, -2, 1, 2, 3, 0, 2, 2, 1, 1, -3, 0, -1, -2}));
  // Every row is a multiple of the first.
  const std::vector<uint16_t> multiples = {kTwo,      kTwo,      0, kTwo,      kOne, kOne, 0, kOne,
                                           kMinusOne, kMinusOne, 0, kMinusOne, 0,    0,    0, 0};
  CHECK(product(multiples, b) == (std::vector<float>{8, 10, 12, 0, 4, 5, 6, 0, -4, -5, -6, 0, 0, 0, 0, 0}));
}

void polling() {
  enter_primary();
  auto* slot = mapped<unsigned long long>(1);
  void* arguments[] = {&slot};
  for (int i = 0; i < 20; ++i) {
    __atomic_store_n(slot, 0ULL, __ATOMIC_RELEASE);
    const long long from = raw_now();
    CHECK_EQUAL(launch(kernel("gvb_stamp"), nullptr, arguments), CUDA_SUCCESS);
    // The kernel starts start_ns after the call returns, whenever the machine lets it return.
    const long long returned = raw_now();
    while (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == 0 && raw_now() - from < kHangNs) {
    }
    const unsigned long long stamp = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    CHECK(since_host(stamp, from) >= 4500 - kTimerStepNs);
    CHECK(since_host(stamp, returned) <= 2000);
    if (i == 10) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const unsigned count = 1000000;
  CUdeviceptr steps = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&steps, count * 8), CUDA_SUCCESS);
  void* step_arguments[] = {&steps, const_cast<unsigned*>(&count)};
  const double took = timed([&] {
    CHECK_EQUAL(launch(kernel("gvb_timer_steps"), nullptr, step_arguments), CUDA_SUCCESS);
    CHECK_EQUAL(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  });
  // Not before its modelled end. How late the waiting host is scheduled depends on the machine.
  CHECK(took >= 32e6);
  CHECK_EQUAL(cuStreamQuery(nullptr), CUDA_SUCCESS);
}

void echo() {
  enter_primary();
  const unsigned exchanges = 200;
  const unsigned long long patience = kHangNs;
  auto* request = mapped<unsigned>(1);
  auto* replies = mapped<unsigned long long>(exchanges);
  void* arguments[] = {&request, &replies, const_cast<unsigned*>(&exchanges),
                       const_cast<unsigned long long*>(&patience)};
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  CHECK_EQUAL(launch(kernel("gvb_clock_echo"), stream, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  double tightest = 1e18;
  double offset = 0;
  for (unsigned i = 1; i <= exchanges; ++i) {
    const long long from = raw_now();
    __atomic_store_n(request, i, __ATOMIC_RELEASE);
    while (__atomic_load_n(&replies[i - 1], __ATOMIC_ACQUIRE) == 0 && raw_now() - from < kHangNs) {
    }
    const long long to = raw_now();
    if (double(to - from) >= tightest) continue;
    tightest = double(to - from);
    offset = since_host(replies[i - 1], from + (to - from) / 2);
  }
  std::printf("       echo bracket %.0f ns, offset error %.0f ns\n", tightest, offset);
  // The device read its clock between the two readings of the host.
  CHECK_NEAR(offset, 0, tightest / 2 + kTimerStepNs);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_SUCCESS);

  const unsigned long long short_patience = 3000000;
  arguments[3] = const_cast<unsigned long long*>(&short_patience);
  replies[0] = 0;
  *request = 0;
  // From before the launch: the host may lose the processor after it.
  const double silent = timed([&] {
    CHECK_EQUAL(launch(kernel("gvb_clock_echo"), stream, arguments), CUDA_SUCCESS);
    CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  });
  CHECK(silent > 2e6);
  CHECK_EQUAL(replies[0], 0ULL);
}

void events() {
  enter_primary();
  CUevent from = nullptr;
  CUevent to = nullptr;
  CHECK_EQUAL(cuEventCreate(&from, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventCreate(&to, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  float milliseconds = 0;
  CHECK_EQUAL(cuEventElapsedTime(&milliseconds, from, to), CUDA_ERROR_INVALID_HANDLE);
  const unsigned count = 1 << 20;
  const unsigned seed = 1;
  CUdeviceptr words = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&words, count * 4), CUDA_SUCCESS);
  void* mix[] = {&words, const_cast<unsigned*>(&count), const_cast<unsigned*>(&seed)};
  launch(kernel("gvb_mix"), nullptr, mix);
  const long long began = raw_now();
  CHECK_EQUAL(cuEventRecord(from, nullptr), CUDA_SUCCESS);
  const int kernels = 100000000 / (1 << 20);
  for (int i = 0; i < kernels; ++i) launch(kernel("gvb_mix"), nullptr, mix);
  CHECK_EQUAL(cuEventRecord(to, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventSynchronize(to), CUDA_SUCCESS);
  const auto whole = double(raw_now() - began);
  CHECK_EQUAL(cuEventElapsedTime(&milliseconds, from, to), CUDA_SUCCESS);
  const double per_kernel = 1000 + count * 4.0 / 4800;
  // The host submits one in 2500 ns, slower than the device runs them.
  const double least = std::max(per_kernel, 2500.0) * kernels;
  const double elapsed = 1e6 * double(milliseconds);
  CHECK(elapsed >= 0.99 * least && elapsed <= 1.01 * whole);
  CHECK_EQUAL(cuEventQuery(to), CUDA_SUCCESS);
  CUevent untimed = nullptr;
  CHECK_EQUAL(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventElapsedTime(&milliseconds, from, untimed), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuEventDestroy_v2(untimed), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventDestroy_v2(untimed), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuEventQuery(reinterpret_cast<CUevent>(&words)), CUDA_ERROR_INVALID_HANDLE);
}

void graph() {
  enter_primary();
  auto* slots = mapped<unsigned long long>(2);
  CUgraph graph = nullptr;
  CHECK_EQUAL(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode nodes[2] = {};
  for (int i = 0; i < 2; ++i) {
    unsigned long long* slot = &slots[i];
    void* arguments[] = {&slot};
    const CUDA_KERNEL_NODE_PARAMS_v1 parameters = {kernel("gvb_stamp"), 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
    CHECK_EQUAL(cuGraphAddKernelNode(&nodes[i], graph, nodes, size_t(i), &parameters), CUDA_SUCCESS);
  }
  CUgraphExec exec = nullptr;
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
  check_shortest("cuGraphLaunch", shortest_of([&] {
                   const double call = timed([&] { cuGraphLaunch(exec, nullptr); });
                   cuStreamSynchronize(nullptr);
                   return call;
                 }),
                 10000);
  CHECK_NEAR(double(slots[1] - slots[0]), 1000, 33);
  CHECK_EQUAL(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

// A node of an instantiated graph takes new arguments; its graph and other nodes keep theirs.
void graph_parameters() {
  enter_primary();
  auto* words = mapped<unsigned long long>(2);
  unsigned long long* target = &words[0];
  void* arguments[] = {&target};
  const CUDA_KERNEL_NODE_PARAMS_v1 made = {kernel("gvb_count"), 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec first = nullptr, second = nullptr;
  CHECK_EQUAL(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphAddKernelNode(&node, graph, nullptr, 0, &made), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&first, graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&second, graph, 0), CUDA_SUCCESS);
  target = &words[1];
  CUDA_KERNEL_NODE_PARAMS_v2 other = {kernel("gvb_count"), 5, 1, 1, 1, 1, 1, 0, arguments, nullptr, nullptr, nullptr};
  CHECK_EQUAL(cuGraphExecKernelNodeSetParams_v2(first, node, &other), CUDA_SUCCESS);
  for (CUgraphExec exec : {first, second}) CHECK_EQUAL(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(words[0], 1u);
  CHECK_EQUAL(words[1], 5u);
  CHECK_EQUAL(cuGraphExecKernelNodeSetParams_v2(first, nullptr, &other), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuGraphExecKernelNodeSetParams_v2(first, node, nullptr), CUDA_ERROR_INVALID_VALUE);
  other.gridDimX = 0;
  CHECK_EQUAL(cuGraphExecKernelNodeSetParams_v2(first, node, &other), CUDA_ERROR_INVALID_VALUE);
  for (CUgraphExec exec : {first, second}) CHECK_EQUAL(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
}

void library() {
  enter_primary();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  const auto load = [&](CUlibrary* to, const void* image) {
    return cuLibraryLoadData(to, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  CHECK_EQUAL(load(&library, nullptr), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(load(nullptr, kPtx), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(load(&library, kPtx), CUDA_SUCCESS);
  CHECK_EQUAL(cuLibraryGetKernel(&kernel, library, "gvb_none"), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(cuLibraryGetKernel(&kernel, library, "gvb_count"), CUDA_SUCCESS);
  CHECK_EQUAL(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  auto* words = mapped<unsigned long long>(1);
  void* arguments[] = {&words};
  CHECK_EQUAL(launch(function, nullptr, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(*words, 1u);
  int bytes = 0;
  const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  CHECK_EQUAL(cuKernelSetAttribute(most, 4096, kernel, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuKernelGetAttribute(&bytes, most, kernel, 0), CUDA_SUCCESS);
  CHECK_EQUAL(bytes, 4096);
  CHECK_EQUAL(cuLibraryUnload(library), CUDA_SUCCESS);
  CHECK_EQUAL(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);

  CUdevice device = -1;
  CHECK_EQUAL(cuCtxGetDevice_v2(&device, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(device, 0);
  CHECK_EQUAL(cuCtxGetDevice_v2(&device, reinterpret_cast<CUcontext>(8)), CUDA_ERROR_INVALID_CONTEXT);
}

// Launches in a capture run each time their graph is launched; other work is refused during the capture.
void capture() {
  enter_primary();
  auto* words = mapped<unsigned long long>(1);
  CUstream stream = nullptr;
  CHECK_EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CHECK_EQUAL(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  CHECK_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  void* arguments[] = {&words};
  for (int i = 0; i < 3; ++i)
    CHECK_EQUAL(cuLaunchKernel(kernel("gvb_count"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_ERROR_NOT_SUPPORTED);
  CUgraph graph = nullptr;
  CHECK_EQUAL(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamEndCapture(stream, &graph), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_SUCCESS);
  CHECK_EQUAL(*words, 0u);
  CUgraphExec exec = nullptr;
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) CHECK_EQUAL(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_SUCCESS);
  CHECK_EQUAL(*words, 6u);
  CHECK_EQUAL(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

// Everything at once from several threads: each gets its own results right.
void threads() {
  CUcontext context = enter_primary();
  const CUfunction stamp = kernel("gvb_stamp");
  const CUfunction mix = kernel("gvb_mix");
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    const auto expect = [&](CUresult result) { wrong += result != CUDA_SUCCESS; };
    expect(cuCtxSetCurrent(context));
    CUstream stream = nullptr;
    CUevent event = nullptr;
    expect(cuStreamCreate(&stream, seed % 2 == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    expect(cuEventCreate(&event, CU_EVENT_DEFAULT));
    auto* slot = mapped<unsigned long long>(1);
    for (int i = 0; i < 100; ++i) {
      const unsigned count = 256;
      CUdeviceptr words = 0;
      unsigned host[count] = {};
      expect(i % 2 == 0 ? cuMemAlloc_v2(&words, sizeof host) : cuMemAllocAsync(&words, sizeof host, stream));
      void* mix_arguments[] = {&words, const_cast<unsigned*>(&count), &seed};
      void* stamp_arguments[] = {&slot};
      expect(launch(mix, stream, mix_arguments));
      expect(launch(stamp, stream, stamp_arguments));
      expect(cuEventRecord(event, stream));
      expect(cuStreamWaitEvent(nullptr, event, 0));
      expect(cuEventSynchronize(event));
      wrong += __atomic_load_n(slot, __ATOMIC_ACQUIRE) == 0;
      expect(cuMemcpyDtoHAsync_v2(host, words, sizeof host, stream));
      wrong += host[255] != (255 + seed) * 2654435761u;
      expect(i % 2 == 0 ? cuMemFree_v2(words) : cuMemFreeAsync(words, stream));
    }
    expect(cuStreamSynchronize(stream));
    expect(cuEventDestroy_v2(event));
    expect(cuStreamDestroy_v2(stream));
    expect(cuMemFreeHost(slot));
  };
  std::vector<std::thread> all;
  for (unsigned seed = 1; seed <= 4; ++seed) all.emplace_back(work, seed);
  for (std::thread& thread : all) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
}

// Two contexts of one card take turns: work of the second waits for at most one slice of the first.
void slices() {
  enter_primary();
  auto* slot = mapped<unsigned long long>(1);
  const unsigned count = 1u << 24;
  const unsigned seed = 1;
  CUdeviceptr words = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&words, size_t{count} * 4), CUDA_SUCCESS);
  void* mix[] = {&words, const_cast<unsigned*>(&count), const_cast<unsigned*>(&seed)};
  CUcontext second = nullptr;
  CHECK_EQUAL(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CHECK_EQUAL(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr), CUDA_SUCCESS);
  CUfunction stamp = nullptr;
  CHECK_EQUAL(cuModuleGetFunction(&stamp, module, "gvb_stamp"), CUDA_SUCCESS);
  CUcontext first = nullptr;
  CHECK_EQUAL(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetCurrent(&first), CUDA_SUCCESS);
  // 900 ms of device time, queued in milliseconds of host time.
  const double each = 1000 + count * 4.0 / 48;
  for (double queued = 0; queued < 900e6; queued += each) launch(kernel("gvb_mix"), nullptr, mix);
  CHECK_EQUAL(cuCtxPushCurrent_v2(second), CUDA_SUCCESS);
  void* arguments[] = {&slot};
  const long long from = raw_now();
  CHECK_EQUAL(launch(stamp, nullptr, arguments), CUDA_SUCCESS);
  const long long returned = raw_now();
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  const double slice = 2000000, start = 2000, call = 2500;
  CHECK(since_host(*slot, from) >= call + start + slice - kTimerStepNs);
  CHECK(since_host(*slot, returned) <= start + slice);
  CHECK_EQUAL(cuCtxDestroy_v2(second), CUDA_SUCCESS);
}

}  // namespace test
