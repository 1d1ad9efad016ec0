#include "bench/full_blocks.h"

#include <algorithm>

namespace gvb {

namespace {

constexpr unsigned kSizes[] = {1024, 512, 256};
// Of compute capability 9.0; for a driver that does not report it.
constexpr int kUsualThreads = 2048;

unsigned resident(const DeviceSession& session, abi::CUfunction kernel, unsigned threads) {
  const auto ask = session.cuda.api.cuOccupancyMaxActiveBlocksPerMultiprocessor;
  int each = 0;
  if (ask != nullptr && ask(&each, kernel, static_cast<int>(threads), 0) == abi::CUDA_SUCCESS && each > 0)
    return static_cast<unsigned>(each);
  const int all =
      card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR).value_or(kUsualThreads);
  return std::max(1u, static_cast<unsigned>(std::max(all, 1)) / threads);
}

}  // namespace

FullBlocks full_blocks(const DeviceSession& session, abi::CUfunction kernel) {
  FullBlocks best{0, 0};
  for (const unsigned threads : kSizes) {
    const unsigned each = resident(session, kernel, threads);
    if (each * threads > best.each * best.threads) best = {threads, each};
  }
  return best;
}

}  // namespace gvb
