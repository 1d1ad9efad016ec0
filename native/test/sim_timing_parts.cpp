#include "sim_measure.h"

namespace test {

void timing() {
  const double init = timed([] { cuInit(0); });
  CHECK_NEAR(init, 5e6, 1e6 + kSlack * 100);
  CUcontext context = nullptr;
  const double create = timed([&] { cuDevicePrimaryCtxRetain(&context, 0); });
  CHECK_NEAR(create, 7e6, 1e6 + kSlack * 100);
  cuCtxSetCurrent(context);
  CUstream stream = nullptr;
  CHECK_EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const double reading = readingCost();

  CUfunction empty = kernel("gvb_empty");
  const double launchCost = medianOf([&] {
                              const double cost = timed([&] { launch(empty, stream, nullptr); });
                              cuStreamSynchronize(stream);
                              return cost;
                            }) -
                            reading;
  report("launch ns", launchCost, 2500);
  CHECK_NEAR(launchCost, 2500, 50 + kSlack);

  auto* slot = mapped<unsigned long long>(1);
  void* arguments[] = {&slot};
  CUfunction stamp = kernel("gvb_stamp");
  // A quiet device, or the virtual timeline of the launches before would delay the first instruction.
  timespec quiet = {0, 5000000};
  nanosleep(&quiet, nullptr);
  std::vector<double> start;
  std::vector<double> roundTrip;
  for (int i = 0; i < kSamples; ++i) {
    const long long from = rawNow();
    launch(stamp, stream, arguments);
    cuStreamSynchronize(stream);
    const long long to = rawNow();
    roundTrip.push_back(double(to - from));
    start.push_back((double(__atomic_load_n(slot, __ATOMIC_ACQUIRE) - 1700000000000000000ULL)) / (1 + 5e-6) -
                    double(from));
  }
  report("call to start ns", median(start), 4500);
  CHECK_NEAR(median(start), 4500, 50 + kSlack);
  report("round trip ns", median(roundTrip) - reading, 5500);
  CHECK_NEAR(median(roundTrip) - reading, 5500, 100 + kSlack);

  CUdeviceptr address = 0;
  std::vector<double> frees;
  const double alloc = medianOf([&] {
                         const double cost = timed([&] { cuMemAlloc_v2(&address, 1 << 20); });
                         frees.push_back(timed([&] { cuMemFree_v2(address); }));
                         return cost;
                       }) -
                       reading;
  report("alloc ns", alloc, 40000);
  CHECK_NEAR(alloc, 40000, 100 + kSlack);
  report("free ns", median(frees) - reading, 50000);
  CHECK_NEAR(median(frees) - reading, 50000, 100 + kSlack);

  CUdevice device = 0;
  const double cheap = timed([&] {
                         for (int i = 0; i < 1000; ++i) cuCtxGetDevice(&device);
                       }) /
                       1000;
  const double query = timed([&] {
                         for (int i = 0; i < 1000; ++i) cuStreamQuery(stream);
                       }) /
                       1000;
  report("cuCtxGetDevice ns", cheap, 0);
  report("cuStreamQuery ns", query, 0);
  CHECK(cheap < 60 + kSlack);
  CHECK(query < 150 + kSlack);
}

}  // namespace test
