#include "sim_measure.h"

namespace test {

namespace {

void launches(CUstream stream) {
  CUfunction empty = kernel("gvb_empty");
  checkShortest("launch", shortestOf([&] {
                  const double cost = timed([&] { launch(empty, stream, nullptr); });
                  cuStreamSynchronize(stream);
                  return cost;
                }),
                2500);
}

// Of a kernel on a device that has nothing else to do.
void roundTrips(CUstream stream) {
  auto* slot = mapped<unsigned long long>(1);
  void* arguments[] = {&slot};
  CUfunction stamp = kernel("gvb_stamp");
  double start = 1e18;
  const double whole = shortestOf([&] {
    const long long from = rawNow();
    launch(stamp, stream, arguments);
    cuStreamSynchronize(stream);
    const long long to = rawNow();
    start = std::min(start, sinceHost(__atomic_load_n(slot, __ATOMIC_ACQUIRE), from));
    return double(to - from);
  });
  // A stamp is a step of the timer early at most.
  checkShortest("call to start", start + kTimerStepNs, 4500);
  checkShortest("round trip", whole, 5500);
}

void allocations() {
  CUdeviceptr address = 0;
  double shortestFree = 1e18;
  checkShortest("alloc", shortestOf([&] {
                  const double cost = timed([&] { cuMemAlloc_v2(&address, 1 << 20); });
                  shortestFree = std::min(shortestFree, timed([&] { cuMemFree_v2(address); }));
                  return cost;
                }),
                40000);
  checkShortest("free", shortestFree, 50000);
}

// Calls without a setting of their own.
void cheapCalls(CUstream stream) {
  constexpr int kCalls = 100;
  CUdevice device = 0;
  const auto each = [](const auto& call) {
    return shortestOf([&] {
      return timed([&] {
               for (int i = 0; i < kCalls; ++i) call();
             }) /
             kCalls;
    });
  };
  checkShortest("cuCtxGetDevice", each([&] { cuCtxGetDevice(&device); }), 0, 3);
  checkShortest("cuStreamQuery", each([&] { cuStreamQuery(stream); }), 0, 6);
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
  roundTrips(stream);
  allocations();
  cheapCalls(stream);
}

}  // namespace test
