// The kernels of bandwidth.cu: what they move, when they say they did, and which blocks they count.
#include <cstring>
#include <numeric>
#include <vector>

#include "test/check.h"
#include "test/emulator/cuda.h"
#include "test/kernels_parts.h"
// Behind what makes them host code.
#include "kernels/bandwidth.cu"

namespace {

using gvb::emulator::Launch;
using gvb::emulator::run;

constexpr unsigned kBlocks = 3;
constexpr Launch kLaunch = {{kBlocks, 1, 1}, {64, 1, 1}};
constexpr unsigned kPasses = 2;
// No multiple of what all threads load at a time.
constexpr size_t kCount = 1'000;

struct Reported {
  unsigned long long span[2] = {~0ull, 0};
  std::vector<unsigned long long> counters = std::vector<unsigned long long>(32 * 16);

  unsigned long long counted() const { return std::accumulate(counters.begin(), counters.end(), 0ull); }
  bool in_order() const { return span[0] < span[1]; }
};

bool same(const uint4& a, const uint4& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void test_streams() {
  constexpr uint32_t kSeed = 7;
  const uint4 untouched = make_uint4(1, 2, 3, 4);
  std::vector<uint4> source(kCount + 1, untouched), target(kCount + 1, untouched);
  Reported write, read, copy;
  run(kLaunch, [&] { gvb_bandwidth_write(source.data(), kCount, kPasses, kSeed, write.span, write.counters.data()); });
  CHECK(write.counted() == kBlocks && write.in_order());
  for (size_t i = 0; i < kCount; ++i) {
    CHECK((source[i].x ^ source[i].y ^ source[i].z ^ source[i].w) == kMark);
    CHECK(source[i].x == (static_cast<uint32_t>(i) * 3 + kSeed) * 2654435761u);
    CHECK(i == 0 || source[i].x != source[i - 1].x);
  }
  CHECK(same(source[kCount], untouched));

  run(kLaunch, [&] { gvb_bandwidth_read(source.data(), kCount, kPasses, read.span, read.counters.data()); });
  CHECK(read.counted() == kBlocks && read.in_order());
  CHECK(read.span[0] > write.span[1]);

  run(kLaunch,
      [&] { gvb_bandwidth_copy(source.data(), target.data(), kCount, kPasses, copy.span, copy.counters.data()); });
  CHECK(copy.counted() == kBlocks && copy.in_order());
  for (size_t i = 0; i < kCount; ++i) CHECK(same(source[i], target[i]));
  CHECK(same(target[kCount], untouched));
}

void test_cleared_memory() {
  const std::vector<uint4> cleared(kCount, make_uint4(0, 0, 0, 0));
  Reported read;
  run(kLaunch, [&] { gvb_bandwidth_read(cleared.data(), kCount, 1, read.span, read.counters.data()); });
  CHECK(read.counted() != kBlocks);
}

// In the part that is loaded several pieces at a time, and in the rest.
void test_memory_that_was_not_written() {
  for (const size_t place : {size_t{5}, kCount - 1}) {
    std::vector<uint4> source(kCount);
    Reported write, read;
    run(kLaunch, [&] { gvb_bandwidth_write(source.data(), kCount, 1, 1, write.span, write.counters.data()); });
    source[place].y += 1;
    run(kLaunch, [&] { gvb_bandwidth_read(source.data(), kCount, 1, read.span, read.counters.data()); });
    CHECK(read.counted() != kBlocks);
  }
}

}  // namespace

void test_bandwidth_kernels() {
  test_streams();
  test_cleared_memory();
  test_memory_that_was_not_written();
}
