#include "bench/copy_pattern.h"

#include <algorithm>

#include "bench/kept_modules.h"

namespace gvb {

using abi::CUdeviceptr;

namespace {

constexpr uint32_t kFactor = 2654435761u;
constexpr unsigned kPatternThreads = 256;
// Enough blocks to use all of the memory's bandwidth.
constexpr unsigned kBlocksEach = 8;
constexpr const char* kLooking = "looking at what was copied";

unsigned pattern_blocks(const DeviceSession& session) { return kBlocksEach * multiprocessors_of(session); }

}  // namespace

void fail_not_copied(const char* copy, uint64_t wrong, uint64_t looked_at) {
  throw Failure(FailureKind::kInvalidResult, std::string(copy) + " reported success, but " + std::to_string(wrong) +
                                                 " of " + std::to_string(looked_at) +
                                                 " words behind it are not those that were to be copied.");
}

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
  if (wrong > 0) fail_not_copied(copy, wrong, looked_at);
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

WordCount::WordCount(const DeviceSession& session, abi::CUstream stream)
    : cuda_(session.cuda), stream_(stream), found_(make_memory(session.cuda, 2 * sizeof(uint64_t))) {}

void WordCount::clear() const {
  GVB_CALL(cuda_, kLooking, cuMemsetD8Async, found_.get(), static_cast<unsigned char>(0), 2 * sizeof(uint64_t),
           stream_);
}

// A kernel that did not run found none.
uint64_t WordCount::wrong_of(uint64_t count) const {
  uint64_t found[2] = {0, 0};
  GVB_CALL(cuda_, kLooking, cuMemcpyDtoHAsync_v2, found, found_.get(), sizeof found, stream_);
  GVB_CALL(cuda_, kLooking, cuStreamSynchronize, stream_);
  return std::max(found[1], count - std::min(count, found[0]));
}

ArrivalCheck::ArrivalCheck(DeviceSession& session, abi::CUstream stream)
    : cuda_(session.cuda),
      stream_(stream),
      kernel_(kept_module(session, "copies").function("gvb_mix_check")),
      blocks_(pattern_blocks(session)),
      found_(session, stream) {}

void ArrivalCheck::launch(CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const {
  uint64_t count = bytes / sizeof(uint32_t);
  unsigned seed = pattern.seed_;
  CUdeviceptr found = found_.device();
  void* parameters[] = {&memory, &count, &seed, &found};
  GVB_CALL(cuda_, kLooking, cuLaunchKernel, kernel_, blocks_, 1, 1, kPatternThreads, 1, 1, 0, stream_, parameters,
           nullptr);
}

uint64_t ArrivalCheck::wrong_words(CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const {
  clear();
  launch(memory, pattern, bytes);
  return wrong_of(bytes);
}

void ArrivalCheck::check(CUdeviceptr memory, const CopyPattern& pattern, size_t bytes, const char* copy) const {
  const uint64_t wrong = wrong_words(memory, pattern, bytes);
  if (wrong != 0) fail_not_copied(copy, wrong, bytes / sizeof(uint32_t));
}

}  // namespace gvb
