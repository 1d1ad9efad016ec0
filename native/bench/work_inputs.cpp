#include "bench/work_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace gvb {

namespace {

// Any of 0 … count - 1 except `before`.
unsigned any_other(unsigned before, unsigned count, std::mt19937_64& random) {
  const unsigned step = std::uniform_int_distribution<unsigned>(1, count - 1)(random);
  return (before + step) % count;
}

// Magnitudes 0 … 3.
uint16_t half_of(int small) {
  static constexpr uint16_t kMagnitudes[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  return static_cast<uint16_t>(kMagnitudes[std::abs(small)] | (small < 0 ? 0x8000 : 0));
}

struct Count {
  size_t value;
};

std::vector<int> whole_numbers(Count count, int largest, std::mt19937_64& random) {
  std::uniform_int_distribution<int> any(-largest, largest);
  std::vector<int> numbers(count.value);
  for (int& number : numbers) number = any(random);
  return numbers;
}

std::vector<float> reals(Count count, float largest, std::mt19937_64& random) {
  std::uniform_real_distribution<float> any(-largest, largest);
  std::vector<float> numbers(count.value);
  for (float& number : numbers) number = any(random);
  return numbers;
}

struct Head {
  const float* queries;
  const float* keys;
  const float* values;
};

// Processes one query after the other.
void attend(const Head& head, float* results) {
  constexpr unsigned kTokens = AttentionInputs::kTokens, kWidth = AttentionInputs::kWidth;
  std::vector<float> by_width(AttentionInputs::kHead);
  for (unsigned key = 0; key < kTokens; ++key)
    for (unsigned i = 0; i < kWidth; ++i) by_width[i * kTokens + key] = head.keys[key * kWidth + i];
  for (unsigned query = 0; query < kTokens; ++query) {
    std::array<float, kTokens> weights{};
    for (unsigned i = 0; i < kWidth; ++i)
      for (unsigned key = 0; key < kTokens; ++key)
        weights[key] += head.queries[query * kWidth + i] / 8 * by_width[i * kTokens + key];
    const float largest = *std::max_element(weights.begin(), weights.end());
    float sum = 0;
    for (float& weight : weights) sum += weight = std::exp(weight - largest);
    float* result = results + size_t{query} * kWidth;
    std::fill_n(result, kWidth, 0.0f);
    for (unsigned key = 0; key < kTokens; ++key)
      for (unsigned i = 0; i < kWidth; ++i) result[i] += weights[key] / sum * head.values[key * kWidth + i];
  }
}

DeviceMemory upload(const Cuda& cuda, const std::vector<float>& numbers) {
  const size_t bytes = numbers.size() * sizeof(float);
  DeviceMemory memory = make_memory(cuda, bytes);
  GVB_CALL(cuda, "copying the inputs of the attention", cuMemcpyHtoD_v2, memory.get(), numbers.data(), bytes);
  return memory;
}

}  // namespace

Factors::Factors(const Cuda& cuda, std::mt19937_64& random)
    : a_(cuda, size_t{kSide + kSpareRows} * kSide * 2),
      b_(cuda, size_t{kSide + kSpareBands * kBand} * kSide * 2),
      x_(whole_numbers(Count{kSide + kSpareRows}, 3, random)) {
  std::array<int, kBand> signs;
  for (int& sign : signs) sign = (random() & 1) != 0 ? 1 : -1;
  // A row of zeros would hide errors in the other factor.
  for (int& x : x_) x = x == 0 ? 1 : x;
  auto* a = static_cast<uint16_t*>(a_.host());
  for (const int x : x_)
    for (unsigned k = 0; k < kSide; ++k) *a++ = half_of(x * signs[k % kBand]);
  const std::vector<int> y = whole_numbers(Count{size_t{kBands + kSpareBands} * kSide}, 2, random);
  auto* b = static_cast<uint16_t*>(b_.host());
  for (unsigned row = 0; row < (kBands + kSpareBands) * kBand; ++row)
    for (unsigned j = 0; j < kSide; ++j) *b++ = half_of(signs[row % kBand] * y[row / kBand * size_t{kSide} + j]);
  sums_.resize(size_t{kSpareBands} * kSide);
  for (size_t i = 0; i < sums_.size(); ++i)
    for (unsigned band = 0; band < kBands; ++band) sums_[i] += y[i + band * size_t{kSide}];
}

Factors::Window Factors::other_than(Window before, std::mt19937_64& random) const {
  return {any_other(before.row, kSpareRows, random), any_other(before.band, kSpareBands, random)};
}

AttentionInputs::AttentionInputs(const Cuda& cuda, std::mt19937_64& random) : AttentionInputs(cuda, Heads(random)) {}

// Scores have a standard deviation of about 1.3: some tokens weigh much more than others.
AttentionInputs::Heads::Heads(std::mt19937_64& random)
    : queries(reals(Count{kPool * kHead}, 2, random)),
      keys(reals(Count{kPool * kHead}, 2, random)),
      values(reals(Count{kPool * kHead}, 1, random)) {}

namespace {

template <class Heads>
Head head_at(const Heads& heads, size_t at) {
  Head head{};
  head.queries = &heads.queries[at];
  head.keys = &heads.keys[at];
  head.values = &heads.values[at];
  return head;
}

}  // namespace

AttentionInputs::AttentionInputs(const Cuda& cuda, const Heads& heads)
    : queries_(upload(cuda, heads.queries)),
      keys_(upload(cuda, heads.keys)),
      values_(upload(cuda, heads.values)),
      results_(kPool * kHead) {
  for (size_t at = 0; at < results_.size(); at += kHead) attend(head_at(heads, at), &results_[at]);
}

unsigned AttentionInputs::other_than(unsigned before, std::mt19937_64& random) const {
  return any_other(before, kPool - kHeads + 1, random);
}

}  // namespace gvb
