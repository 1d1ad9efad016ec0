#include "bench/llm/block_ends.h"

#include "base/clock.h"
#include "bench/kept_modules.h"

namespace gvb {

using abi::CUdeviceptr;

namespace {

constexpr unsigned kBlockEndThreads = 128;
// Odd, so that seeds of later calls do not repeat words of earlier ones.
constexpr unsigned kSeedStep = 0x9e3779b1;

// Must match gvb_write_ends.
unsigned word_of(unsigned word, unsigned seed) { return (word + seed) * 2654435761u; }

}  // namespace

BlockEnds::BlockEnds(DeviceSession& session, size_t most_blocks, abi::CUstream stream)
    : cuda_(session.cuda),
      stream_(stream),
      most_blocks_(most_blocks),
      page_(session.cuda, most_blocks * (sizeof(CUdeviceptr) + 2 * sizeof(unsigned))),
      write_(kept_module(session, "pages").function("gvb_write_ends")),
      read_(kept_module(session, "pages").function("gvb_read_ends")),
      seed_(static_cast<unsigned>(now_ns())) {}

void BlockEnds::launch(abi::CUfunction kernel, void** parameters, unsigned words) {
  GVB_CALL(cuda_, "verifying an allocation", cuLaunchKernel, kernel, (words + kBlockEndThreads - 1) / kBlockEndThreads,
           1, 1, kBlockEndThreads, 1, 1, 0, stream_, parameters, nullptr);
}

void BlockEnds::verify(const std::vector<CUdeviceptr>& blocks, size_t bytes) {
  if (blocks.empty() || blocks.size() > most_blocks_)
    throw std::logic_error("unreachable: as many blocks as asked for");
  seed_ += kSeedStep;
  const size_t found_at = most_blocks_ * sizeof(CUdeviceptr);
  const auto words = static_cast<unsigned>(2 * blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) page_.store<CUdeviceptr>(blocks[i], i * sizeof(CUdeviceptr));
  for (unsigned i = 0; i < words; ++i) page_.store<unsigned>(~word_of(i, seed_), found_at + i * sizeof(unsigned));
  CUdeviceptr list = page_.device(), found = page_.device(found_at);
  unsigned long long block_bytes = bytes;
  unsigned count = words;
  void* writing[] = {&list, &block_bytes, &count, &seed_};
  void* reading[] = {&list, &block_bytes, &count, &found};
  launch(write_, writing, words);
  launch(read_, reading, words);
  GVB_CALL(cuda_, "verifying an allocation", cuStreamSynchronize, stream_);
  for (unsigned i = 0; i < words; ++i)
    if (page_.load<unsigned>(found_at + i * sizeof(unsigned)) != word_of(i, seed_))
      throw Failure(FailureKind::kInvalidResult, "an allocation succeeded without memory of its own: block " +
                                                     std::to_string(i / 2 + 1) + " of " +
                                                     std::to_string(blocks.size()) + ", of " + std::to_string(bytes) +
                                                     " bytes each, did not hold the word that a kernel wrote to its " +
                                                     (i % 2 == 0 ? "beginning." : "end."));
}

}  // namespace gvb
