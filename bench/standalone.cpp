// The measurement loops without Node: the same native/bench code as the addon's, linked into a plain program. What the
// addon adds to a sample (it must be nothing) is the difference between the two; bench/agreement.js takes it.
// Usage: standalone_bench launch|alloc|free COUNT [SIMULATED_DRIVER_FOLDER]   → one line of JSON, medians in ns
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "bench/launch_latency.h"
#include "bench/memory_latency.h"

namespace {

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
}

int run(const char* what, unsigned count, const std::optional<std::string>& folder) {
  using namespace gvb;
  const CancelToken token;
  DeviceSession session(Driver::load(folder), SymbolPath::kRuntime, 0, token);
  if (std::strcmp(what, "launch") == 0) {
    const LaunchBlock block = measure_launches(session, {LaunchCall::kKernel, count, 200, 1, 0});
    std::printf("{\"submitNs\":%.2f,\"startNs\":%.2f,\"roundTripNs\":%.2f,\"residualNs\":%.2f}\n",
                median(block.submit_ns), median(block.start_ns), median(block.round_trip_ns), block.residual_ns);
  } else if (std::strcmp(what, "alloc") == 0) {
    const AllocationBlock block = measure_allocations(session, {AllocationApi::kMemAlloc, 0, 32, count, 10});
    std::printf("{\"allocNs\":%.2f}\n", median(block.alloc_ns));
  } else if (std::strcmp(what, "free") == 0) {
    const FreeBlock block = measure_frees(session, {0, 64, FreeOrder::kFifo, count, 10, 1});
    std::printf("{\"freeNs\":%.2f}\n", median(block.free_ns));
  } else {
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (argc < 3 || argc > 4 || count < 1) {
    std::fprintf(stderr, "usage: standalone_bench launch|alloc|free COUNT [SIMULATED_DRIVER_FOLDER]\n");
    return 2;
  }
  try {
    const auto folder = argc == 4 ? std::optional<std::string>(argv[3]) : std::nullopt;
    return run(argv[1], static_cast<unsigned>(count), folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
