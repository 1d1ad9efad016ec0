#include "bench/load_kernel.h"

#include <algorithm>
#include <cmath>

#include "bench/full_blocks.h"
#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr uint32_t kLoadMultiplier = 1664525;
// A block checks after this many rounds whether it must stop: about half a millisecond on a full multiprocessor.
constexpr uint64_t kRoundsOfChunk = 2'000;
constexpr uint64_t kCalibrationRounds = 1'000;
constexpr unsigned kCalibrations = 5;

unsigned resident_on_each(const Cuda& cuda, abi::CUfunction kernel, unsigned threads) {
  int each = 0;
  GVB_CALL(cuda, "asking how many blocks run at a time", cuOccupancyMaxActiveBlocksPerMultiprocessor, &each, kernel,
           static_cast<int>(threads), 0);
  return static_cast<unsigned>(std::max(each, 1));
}

struct ProbeSize {
  uint64_t rounds;
  unsigned blocks;
};

KernelSpan run_alone(const LoadProbe& probe, const ProbeSize& size) {
  LoadArguments arguments(0, probe.ledger, size.rounds);
  probe.ledger.open(0, UINT64_MAX);
  GVB_CALL(probe.calls, "trying out a load", cuLaunchKernel, probe.kernel.function, size.blocks, 1, 1,
           probe.kernel.threads, 1, 1, 0, probe.stream, arguments.pointers, nullptr);
  GVB_CALL(probe.calls, "trying out a load", cuStreamSynchronize, probe.stream);
  return probe.ledger.ran(0);
}

}  // namespace

LoadKernel::LoadKernel(DeviceSession& session, const LoadRequest& request)
    : function(kept_module(session, "load").function("gvb_load")),
      threads(request.threads_per_block > 0 ? request.threads_per_block : full_blocks(session, function).threads),
      multiprocessors(card_multiprocessors(session)),
      resident(resident_on_each(session.cuda, function, threads) * multiprocessors),
      blocks(request.blocks > 0                      ? request.blocks
             : request.blocks_per_multiprocessor > 0 ? request.blocks_per_multiprocessor * multiprocessors
                                                     : resident) {}

LoadArguments::LoadArguments(size_t kernel, const LoadLedger& ledger, uint64_t rounds_of_block)
    : stamps(ledger.stamps(kernel)),
      scratch(ledger.scratch(kernel)),
      ledger(ledger.device()),
      stop(ledger.stop_word()),
      chunks(static_cast<uint32_t>((rounds_of_block + kRoundsOfChunk - 1) / kRoundsOfChunk)),
      rounds(static_cast<uint32_t>(std::max<uint64_t>(rounds_of_block / chunks, 1))),
      multiplier(kLoadMultiplier),
      expected(load_result({total(), kLoadMultiplier})) {}

uint64_t calibrated_rounds(const LoadProbe& probe, uint64_t kernel_ns) {
  const LoadKernel& kernel = probe.kernel;
  uint64_t shortest = UINT64_MAX;
  for (unsigned i = 0; i < kCalibrations; ++i) {
    probe.session.token.check();
    const KernelSpan span = run_alone(probe, {kCalibrationRounds, std::min(kernel.blocks, kernel.resident)});
    shortest = std::min(shortest, span.ended - span.began);
  }
  const double round_ns = static_cast<double>(shortest) / static_cast<double>(kCalibrationRounds);
  const double waves = std::ceil(static_cast<double>(kernel.blocks) / kernel.resident);
  return static_cast<uint64_t>(std::max(1.0, std::round(static_cast<double>(kernel_ns) / (waves * round_ns))));
}

KernelSpan shortest_kernel(const LoadProbe& probe) { return run_alone(probe, {1, 1}); }

}  // namespace gvb
