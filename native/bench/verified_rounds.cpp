#include "bench/verified_rounds.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace gvb {

namespace {

constexpr unsigned kRoundThreads = 256, kRoundBlocks = 64;

// Runs gvb_mix on a new block, which is filled with other values first.
bool round(DeviceSession& session, std::vector<uint32_t>& words, unsigned seed) {
  const Cuda& cuda = session.cuda;
  const DeviceMemory block = make_memory(cuda, words.size() * sizeof(uint32_t));
  GVB_CALL(cuda, "clearing a victim's block", cuMemsetD32_v2, block.get(), ~seed, words.size());
  abi::CUdeviceptr at = block.get();
  auto count = static_cast<unsigned>(words.size());
  void* parameters[] = {&at, &count, &seed};
  GVB_CALL(cuda, "launching a victim's kernel", cuLaunchKernel, session.module.function("gvb_mix"), kRoundBlocks, 1, 1,
           kRoundThreads, 1, 1, 0, nullptr, parameters, nullptr);
  GVB_CALL(cuda, "reading a victim's results", cuMemcpyDtoH_v2, words.data(), at, words.size() * sizeof(uint32_t));
  for (unsigned i = 0; i < count; ++i)
    if (words[i] != (i + seed) * 2654435761u) return false;
  return true;
}

}  // namespace

VerifiedRounds verified_rounds(DeviceSession& session, const RoundsRequest& request) {
  std::vector<uint32_t> words(std::max<size_t>(1, request.bytes / sizeof(uint32_t)));
  VerifiedRounds done;
  done.began_ns = done.ended_ns = now_ns();
  const int64_t until = done.began_ns + int64_t{request.for_ms} * 1'000'000;
  auto seed = static_cast<unsigned>(done.began_ns);
  while (done.ended_ns < until) {
    session.token.check();
    const bool right = round(session, words, ++seed);
    const int64_t now = now_ns();
    if (right) {
      done.longest_gap_ns = std::max(done.longest_gap_ns, now - done.ended_ns);
      ++done.rounds;
    } else {
      ++done.wrong;
    }
    done.ended_ns = now;
  }
  return done;
}

}  // namespace gvb
