#include "bench/copy_pattern.h"

#include <algorithm>

#include "bench/kept_modules.h"
#include "kernels/ptx.h"

namespace gvb {

using abi::CUdeviceptr;

namespace {

constexpr uint32_t kFactor = 2654435761u;
constexpr unsigned kPatternThreads = 256;
// Enough blocks to use all of the memory's bandwidth.
constexpr unsigned kBlocksEach = 8;

unsigned pattern_blocks(const DeviceSession& session) { return kBlocksEach * multiprocessors_of(session); }

[[noreturn]] void not_copied(const char* copy, uint64_t wrong, uint64_t looked_at) {
  throw Failure(FailureKind::kInvalidResult, std::string(copy) + " reported success, but " + std::to_string(wrong) +
                                                 " of " + std::to_string(looked_at) +
                                                 " words behind it are not those that were to be copied.");
}

}  // namespace

void CopyPattern::fill_host(void* memory, size_t bytes) const {
  auto* const words = static_cast<uint32_t*>(memory);
  for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = (static_cast<uint32_t>(i) + seed_) * kFactor;
}

void CopyPattern::check_host(const void* memory, size_t bytes, const char* copy, size_t step) const {
  const auto* const words = static_cast<const volatile uint32_t*>(memory);
  const size_t count = bytes / sizeof *words, words_step = std::max<size_t>(1, step / sizeof *words);
  uint64_t wrong = 0, looked_at = 0;
  const auto look = [&](size_t i) {
    ++looked_at;
    if (words[i] != (static_cast<uint32_t>(i) + seed_) * kFactor) ++wrong;
  };
  for (size_t i = (seed_ * kFactor >> 8) % words_step; i < count; i += words_step) look(i);
  look(0);
  look(count - 1);
  if (wrong > 0) not_copied(copy, wrong, looked_at);
}

PatternWriter::PatternWriter(const DeviceSession& session, abi::CUstream stream)
    : cuda_(session.cuda),
      stream_(stream),
      kernel_(session.module.function("gvb_mix")),
      blocks_(pattern_blocks(session)) {}

void PatternWriter::write(CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const {
  auto count = static_cast<unsigned>(bytes / sizeof(uint32_t));
  unsigned seed = pattern.seed_;
  void* parameters[] = {&memory, &count, &seed};
  GVB_CALL(cuda_, "writing a pattern", cuLaunchKernel, kernel_, blocks_, 1, 1, kPatternThreads, 1, 1, 0, stream_,
           parameters, nullptr);
}

ArrivalCheck::ArrivalCheck(DeviceSession& session, abi::CUstream stream)
    : cuda_(session.cuda),
      stream_(stream),
      kernel_(kept_module(session, gvb_ptx_copies).function("gvb_mix_check")),
      blocks_(pattern_blocks(session)),
      found_(make_memory(session.cuda, 2 * sizeof(uint64_t))) {}

void ArrivalCheck::check(CUdeviceptr memory, const CopyPattern& pattern, size_t bytes, const char* copy) const {
  constexpr const char* kAttempt = "checking the copied data";
  uint64_t count = bytes / sizeof(uint32_t), counted[2] = {0, 0};
  unsigned seed = pattern.seed_;
  CUdeviceptr found = found_.get();
  void* parameters[] = {&memory, &count, &seed, &found};
  GVB_CALL(cuda_, kAttempt, cuMemsetD8Async, found, static_cast<unsigned char>(0), sizeof counted, stream_);
  GVB_CALL(cuda_, kAttempt, cuLaunchKernel, kernel_, blocks_, 1, 1, kPatternThreads, 1, 1, 0, stream_, parameters,
           nullptr);
  GVB_CALL(cuda_, kAttempt, cuMemcpyDtoHAsync_v2, counted, found, sizeof counted, stream_);
  GVB_CALL(cuda_, kAttempt, cuStreamSynchronize, stream_);
  // If the kernel did not run, its counter is 0.
  if (counted[0] != count || counted[1] != 0) not_copied(copy, count - std::min(count, counted[0]), count);
}

}  // namespace gvb
