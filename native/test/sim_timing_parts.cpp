#include "sim_measure.h"

namespace test {

namespace {

void launches(CUstream stream) {
  CUfunction empty = kernel("gvb_empty");
  check_shortest("launch", shortest_of([&] {
                   const double cost = timed([&] { launch(empty, stream, nullptr); });
                   cuStreamSynchronize(stream);
                   return cost;
                 }),
                 2500);
}

// For a kernel on an idle device.
void round_trips(CUstream stream) {
  auto* slot = mapped<unsigned long long>(1);
  void* arguments[] = {&slot};
  CUfunction stamp = kernel("gvb_stamp");
  double start = 1e18;
  const double whole = shortest_of([&] {
    const long long from = raw_now();
    launch(stamp, stream, arguments);
    cuStreamSynchronize(stream);
    const long long to = raw_now();
    start = std::min(start, since_host(__atomic_load_n(slot, __ATOMIC_ACQUIRE), from));
    return double(to - from);
  });
  // A stamp is at most one step of the timer early.
  check_shortest("call to start", start + kTimerStepNs, 4500);
  // Two calls, each with its own code around it.
  check_shortest("round trip", whole, 5500, 16);
}

void allocations() {
  CUdeviceptr address = 0;
  double shortest_free = 1e18;
  check_shortest("alloc", shortest_of([&] {
                   const double cost = timed([&] { cuMemAlloc_v2(&address, 1 << 20); });
                   shortest_free = std::min(shortest_free, timed([&] { cuMemFree_v2(address); }));
                   return cost;
                 }),
                 40000);
  check_shortest("free", shortest_free, 50000);
}

// Calls without a setting of their own.
void cheap_calls(CUstream stream) {
  constexpr int kCalls = 100;
  CUdevice device = 0;
  const auto each = [](const auto& call) {
    return shortest_of([&] {
      return timed([&] {
               for (int i = 0; i < kCalls; ++i) call();
             }) /
             kCalls;
    });
  };
  check_shortest("cuCtxGetDevice", each([&] { cuCtxGetDevice(&device); }), 0, 3);
  check_shortest("cuStreamQuery", each([&] { cuStreamQuery(stream); }), 0, 6);
}

}  // namespace

void timing() {
  CHECK(timed([] { cuInit(0); }) >= 5e6);
  CUcontext context = nullptr;
  CHECK(timed([&] { cuDevicePrimaryCtxRetain(&context, 0); }) >= 7e6);
  cuCtxSetCurrent(context);
  CUstream stream = nullptr;
  CHECK_EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  launches(stream);
  round_trips(stream);
  allocations();
  cheap_calls(stream);
}

}  // namespace test
