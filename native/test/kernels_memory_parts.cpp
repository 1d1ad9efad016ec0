// The kernels of pages.cu and pipeline.cu: the words they touch, and the tokens that stages pass on.
#include <vector>

#include "bench/load_work.h"
#include "test/check.h"
#include "test/emulator/cuda.h"
#include "test/kernels_parts.h"
// Included after the emulator, which makes them host code.
#include "kernels/copies.cu"
#include "kernels/pages.cu"
#include "kernels/pipeline.cu"

namespace {

using gvb::emulator::Launch;
using gvb::emulator::run;

// One thread too many, and a partly filled block.
void test_ends() {
  constexpr unsigned kBlocks = 3, kWords = 2 * kBlocks, kBlockWords = 8;
  constexpr unsigned long long kBytes = kBlockWords * sizeof(uint32_t);
  constexpr uint32_t kUntouched = 0x5a5a5a5a;
  std::vector<std::vector<uint32_t>> memory(kBlocks, std::vector<uint32_t>(kBlockWords, kUntouched));
  std::vector<unsigned long long> blocks;
  for (auto& block : memory) blocks.push_back(reinterpret_cast<uintptr_t>(block.data()));
  const Launch launch = {{2, 1, 1}, {4, 1, 1}};
  run(launch, [&] { gvb_write_ends(blocks.data(), kBytes, kWords, 7); });
  for (unsigned block = 0; block < kBlocks; ++block)
    for (unsigned word = 0; word < kBlockWords; ++word) {
      const bool is_end = word == 0 || word == kBlockWords - 1;
      const uint32_t expected = (2 * block + (word > 0) + 7) * 2654435761u;
      CHECK(memory[block][word] == (is_end ? expected : kUntouched));
    }
  std::vector<uint32_t> found(kWords + 1, kUntouched);
  memory[1].front() = 11;
  memory[2].back() = 12;
  run(launch, [&] { gvb_read_ends(blocks.data(), kBytes, kWords, found.data()); });
  for (unsigned word = 0; word < kWords; ++word)
    CHECK(found[word] == (word == 2 ? 11 : word == 5 ? 12 : (word + 7) * 2654435761u));
  CHECK(found[kWords] == kUntouched);
}

// Twice on the same scratch memory, like the stages of later runs.
void test_stage() {
  constexpr unsigned kBlocks = 5, kRounds = 3, kMultiplier = 1664525;
  unsigned long long stamps[2], scratch[3] = {0, 0, 0};
  unsigned token = 42;
  unsigned long long ended_before = 0;
  for (unsigned stage = 0; stage < 2; ++stage) {
    unsigned out = 0;
    run({{kBlocks, 1, 1}, {128, 1, 1}}, [&] { gvb_stage(stamps, scratch, &token, &out, kRounds, kMultiplier); });
    CHECK(out == kBlocks * gvb::load_map({kRounds, kMultiplier}).of(token));
    // The first block's first reading, and one after all others'.
    CHECK(stamps[0] > ended_before);
    CHECK(stamps[1] > stamps[0]);
    for (const unsigned long long sum : scratch) CHECK(sum == 0);
    token = out;
    ended_before = stamps[1];
  }
}

// More words than threads, two of them wrong; and none that is right under another seed.
void test_mix_check() {
  constexpr unsigned kCount = 5000, kSeed = 77;
  std::vector<uint32_t> words(kCount);
  for (unsigned i = 0; i < kCount; ++i) words[i] = (i + kSeed) * 2654435761u;
  unsigned long long found[2] = {10, 20};
  words[1] ^= 1;
  words[kCount - 1] ^= 1;
  run({{2, 1, 1}, {256, 1, 1}}, [&] { gvb_mix_check(words.data(), kCount, kSeed, found); });
  CHECK(found[0] == 10 + kCount - 2);
  CHECK(found[1] == 20 + 2);
  run({{1, 1, 1}, {256, 1, 1}}, [&] { gvb_mix_check(words.data(), kCount, kSeed + 1, found); });
  CHECK(found[0] == 10 + kCount - 2);
}

}  // namespace

void test_memory_kernels() {
  test_ends();
  test_mix_check();
  test_stage();
}
