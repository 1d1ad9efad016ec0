// The measurement loops without Node: the same native/bench code as the addon's, linked into a plain program.
// bench/agreement.js compares the two; the addon must add nothing to a sample.
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
  DeviceTarget target;
  target.device = 0;
  DeviceSession session(Driver::load(folder), target, token);
  if (std::strcmp(what, "launch") == 0) {
    LaunchRequest request;
    request.count = count;
    request.warmup = 200;
    const LaunchBlock block = measure_launches(session, request);
    std::printf("{\"submitNs\":%.2f,\"startNs\":%.2f,\"roundTripNs\":%.2f,\"residualNs\":%.2f}\n",
                median(block.submit_ns), median(block.start_ns), median(block.round_trip_ns), block.mapping.residual_ns);
  } else if (std::strcmp(what, "alloc") == 0) {
    AllocationRequest request;
    request.live = 32;
    request.count = count;
    request.warmup = 10;
    const AllocationBlock block = measure_allocations(session, request);
    std::printf("{\"allocNs\":%.2f}\n", median(block.alloc_ns));
  } else if (std::strcmp(what, "free") == 0) {
    FreeRequest request;
    request.live = 64;
    request.count = count;
    request.warmup = 10;
    const FreeBlock block = measure_frees(session, request);
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
