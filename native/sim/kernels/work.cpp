#include "sim/kernels/work.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

const std::vector<float>& wide_values() {
  static const std::vector<float>& table = *new std::vector<float>([] {
    std::vector<float> values(65536);
    for (size_t i = 0; i < values.size(); ++i) values[i] = widen(static_cast<uint16_t>(i));
    return values;
  }());
  return table;
}

void widen(const uint16_t* halves, size_t count, float* wide) {
  const float* table = wide_values().data();
  for (size_t i = 0; i < count; ++i) wide[i] = table[halves[i]];
}

// If all rows of a matrix are multiples of its first row: its first column, else nothing. Products of two halves are
// exact in single precision.
std::vector<float> multiples_of_first_row(const uint16_t* a, size_t n) {
  std::vector<float> first(n), row(n), column(n);
  widen(a, n, first.data());
  if (first[0] == 0 || !std::isfinite(first[0])) return {};
  for (size_t i = 0; i < n; ++i) {
    widen(a + i * n, n, row.data());
    bool multiple = true;
    for (size_t k = 0; k < n; ++k) multiple &= row[k] * first[0] == row[0] * first[k];
    if (!multiple) return {};
    column[i] = row[0];
  }
  return column;
}

void multiply(const std::vector<float>& a, const std::vector<float>& b, float* c, size_t n) {
  std::fill_n(c, n * n, 0.0f);
  constexpr size_t kRows = 4;  // rows of b to process before the row of c leaves the L1 cache
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

// The full product takes 17 billion operations, about a second here. For such a matrix, one row of the product
// determines all the others.
void multiply_first_row(const std::vector<float>& column, const uint16_t* a, const uint16_t* b, float* c, size_t n) {
  std::vector<float> first(n), row(n), product(n);
  widen(a, n, first.data());
  for (size_t k = 0; k < n; ++k) {
    widen(b + k * n, n, row.data());
    for (size_t j = 0; j < n; ++j) product[j] += first[k] * row[j];
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) c[i * n + j] = column[i] * product[j] / column[0];
}

}  // namespace

void multiply_half(const uint16_t* a, const uint16_t* b, float* c, unsigned n) {
  const std::vector<float> column = multiples_of_first_row(a, n);
  if (!column.empty()) return multiply_first_row(column, a, b, c, n);
  const size_t count = size_t{n} * n;
  std::vector<float> wide_a(count), wide_b(count);
  widen(a, count, wide_a.data());
  widen(b, count, wide_b.data());
  multiply(wide_a, wide_b, c, n);
}

void attend(const float* q, const float* k, const float* v, float* out, unsigned heads, unsigned length) {
  // Stored as [i][key] for one head, so that a query's scores are sums over rows, several keys at once.
  std::vector<float> weights(length), keys(size_t{length} * kWidth);
  for (unsigned head = 0; head < heads; ++head) {
    const size_t base = size_t{head} * length * kWidth;
    for (size_t key = 0; key < length; ++key)
      for (size_t i = 0; i < kWidth; ++i) keys[i * length + key] = k[base + key * kWidth + i];
    for (unsigned query = 0; query < length; ++query) {
      const float* mine = q + base + size_t{query} * kWidth;
      std::fill(weights.begin(), weights.end(), 0.0f);
      for (size_t i = 0; i < kWidth; ++i)
        for (size_t key = 0; key < length; ++key) weights[key] += mine[i] * keys[i * length + key];
      float largest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (float& weight : weights) largest = std::max(largest, weight *= 0.125f);
      for (float& weight : weights) sum += weight = std::exp(weight - largest);
      float* row = out + base + size_t{query} * kWidth;
      std::fill_n(row, kWidth, 0.0f);
      for (unsigned key = 0; key < length; ++key)
        for (unsigned i = 0; i < kWidth; ++i) row[i] += weights[key] / sum * v[base + size_t{key} * kWidth + i];
    }
  }
}

}  // namespace gvb::sim
