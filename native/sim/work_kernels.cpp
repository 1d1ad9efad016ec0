#include "sim/work_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

namespace gvb::sim {
namespace {

constexpr unsigned kWidth = 64;

float widen(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int fraction = half & 0x3ff;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f) return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::nanf("");
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}

std::vector<float> widen(const uint16_t* halves, size_t count) {
  std::vector<float> table(65536);
  for (size_t i = 0; i < table.size(); ++i) table[i] = widen(static_cast<uint16_t>(i));
  std::vector<float> wide(count);
  for (size_t i = 0; i < count; ++i) wide[i] = table[halves[i]];
  return wide;
}

void multiply(const std::vector<float>& a, const std::vector<float>& b, float* c, size_t n) {
  std::fill_n(c, n * n, 0.0f);
  constexpr size_t kRows = 4;  // of b are used before the row of c leaves the nearest cache
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; k += kRows) {
      float* row = c + i * n;
      const float* factors = &a[i * n + k];
      const float* rows = &b[k * n];
      for (size_t j = 0; j < n; ++j)
        row[j] += factors[0] * rows[j] + factors[1] * rows[n + j] + factors[2] * rows[2 * n + j] +
                  factors[3] * rows[3 * n + j];
    }
}

// A benchmark multiplies the same factors over and over: seventeen billion operations are a second here.
struct Product {
  std::vector<uint16_t> a, b;
  std::vector<float> c;
};

}  // namespace

void multiplyHalf(const uint16_t* a, const uint16_t* b, float* c, unsigned n) {
  static std::mutex mutex;
  static Product& last = *new Product;
  const std::lock_guard<std::mutex> lock(mutex);
  const size_t count = size_t{n} * n, bytes = count * sizeof(uint16_t);
  const bool known =
      last.a.size() == count && std::memcmp(last.a.data(), a, bytes) == 0 && std::memcmp(last.b.data(), b, bytes) == 0;
  if (!known) {
    last = {{a, a + count}, {b, b + count}, std::vector<float>(count)};
    multiply(widen(a, count), widen(b, count), last.c.data(), n);
  }
  std::copy(last.c.begin(), last.c.end(), c);
}

void attend(const float* q, const float* k, const float* v, float* out, unsigned heads, unsigned length) {
  std::vector<float> weights(length);
  for (unsigned head = 0; head < heads; ++head) {
    const size_t base = size_t{head} * length * kWidth;
    for (unsigned query = 0; query < length; ++query) {
      const float* mine = q + base + size_t{query} * kWidth;
      float largest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (unsigned key = 0; key < length; ++key) {
        float score = 0;
        for (unsigned i = 0; i < kWidth; ++i) score += mine[i] * k[base + size_t{key} * kWidth + i];
        weights[key] = score * 0.125f;
        largest = std::max(largest, weights[key]);
      }
      for (float& weight : weights) sum += weight = std::exp(weight - largest);
      float* row = out + base + size_t{query} * kWidth;
      std::fill_n(row, kWidth, 0.0f);
      for (unsigned key = 0; key < length; ++key)
        for (unsigned i = 0; i < kWidth; ++i) row[i] += weights[key] / sum * v[base + size_t{key} * kWidth + i];
    }
  }
}

}  // namespace gvb::sim
