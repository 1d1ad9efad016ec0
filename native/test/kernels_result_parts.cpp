// The kernels of ordered_sum.cu and strong_loads.cu: the order of additions, and a latency for each load.
#include <vector>

#include "test/check.h"
#include "test/emulator/cuda.h"
#include "test/kernels_parts.h"
// Behind what makes them host code.
#include "kernels/ordered_sum.cu"
#include "kernels/strong_loads.cu"

namespace {

using gvb::kOrderedSumThreads;
using gvb::kStrongLoads;
using gvb::emulator::run;

// A row longer than the grid, with a rest; the words around the sums stay as they are.
void test_ordered_sum() {
  constexpr unsigned kRows = 2, kBlocks = 3, kStride = 5, kCount = 4 * kBlocks * kOrderedSumThreads + 11;
  std::vector<float> in(size_t{kRows} * kCount);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 1.0F / static_cast<float>(1 + i * 7 % 1000);
  std::vector<float> out(size_t{kRows} * kStride, -1);
  run({{kBlocks, kRows, 1}, {kOrderedSumThreads, 1, 1}},
      [&] { gvb_ordered_sum(in.data(), kCount, out.data(), kStride); });
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned block = 0; block < kStride; ++block) {
      if (block >= kBlocks) {
        CHECK(out[row * kStride + block] == -1);
        continue;
      }
      std::vector<float> parts(kOrderedSumThreads);
      for (unsigned thread = 0; thread < kOrderedSumThreads; ++thread)
        for (unsigned i = block * kOrderedSumThreads + thread; i < kCount; i += kBlocks * kOrderedSumThreads)
          parts[thread] += in[size_t{row} * kCount + i];
      for (unsigned half = kOrderedSumThreads / 2; half > 0; half /= 2)
        for (unsigned i = 0; i < half; ++i) parts[i] += parts[i + half];
      CHECK(out[row * kStride + block] == parts[0]);
    }
}

void test_strong_loads() {
  constexpr unsigned kUnwritten = 0xffffffff;
  const unsigned word = 3;
  std::vector<unsigned> cycles(2 * kStrongLoads + 1, kUnwritten);
  run({{1, 1, 1}, {1, 1, 1}}, [&] { gvb_strong_loads(&word, cycles.data()); });
  for (unsigned i = 0; i < 2 * kStrongLoads; ++i) CHECK(cycles[i] != kUnwritten);
  CHECK(cycles[2 * kStrongLoads] == kUnwritten);
}

}  // namespace

void test_result_kernels() {
  test_ordered_sum();
  test_strong_loads();
}
