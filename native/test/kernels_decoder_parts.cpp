// The kernels of decoder.cu, compared with double precision.
#include <cmath>
#include <limits>
#include <vector>

#include "bench/llm/normal_value.h"
#include "kernels/decoder.cu"
#include "test/check.h"
#include "test/kernels_parts.h"

namespace {

using gvb::emulator::Launch;
using gvb::emulator::run;
using Halves = std::vector<uint16_t>;

constexpr uint16_t kNanHalf = 0x7e00;

Halves normal_halves(size_t count, uint64_t seed) {
  Halves halves(count);
  for (size_t i = 0; i < count; ++i) gvb::store_number(halves.data(), i, gvb::normal_value(seed, i), gvb::Number::kF16);
  return halves;
}

double value_of(const Halves& halves, size_t index) {
  return gvb::load_number(halves.data(), index, gvb::Number::kF16);
}

// Sequences whose pages are shuffled among pages of others; places that no token wrote hold NaN.
struct Cache {
  unsigned kv_heads, dimension, sequences, pages_each;
  std::vector<unsigned> pages;
  Halves keys, values;

  Cache(unsigned heads, unsigned d, unsigned count, unsigned each)
      : kv_heads(heads), dimension(d), sequences(count), pages_each(each), pages(size_t{count} * each) {
    for (unsigned i = 0; i < pages.size(); ++i) pages[i] = (i * 7 + 3) % (count * each);
    keys.assign(size_t{count} * each * heads * kPageTokens * d, kNanHalf);
    values = keys;
  }

  size_t place(unsigned sequence, unsigned head, unsigned token) const {
    const size_t page = pages[sequence * pages_each + token / kPageTokens];
    return ((page * kv_heads + head) * kPageTokens + token % kPageTokens) * dimension;
  }

  void fill(unsigned tokens) {
    for (unsigned sequence = 0; sequence < sequences; ++sequence)
      for (unsigned head = 0; head < kv_heads; ++head)
        for (unsigned token = 0; token < tokens; ++token)
          for (unsigned d = 0; d < dimension; ++d) {
            const size_t i = place(sequence, head, token) + d;
            gvb::store_number(keys.data(), i, gvb::normal_value(11, i), gvb::Number::kF16);
            gvb::store_number(values.data(), i, gvb::normal_value(12, i), gvb::Number::kF16);
          }
  }

  std::vector<double> attended(const Halves& q, size_t query, unsigned sequence, unsigned head, unsigned length) const {
    std::vector<double> weights(length), out(dimension);
    double sum = 0;
    for (unsigned token = 0; token < length; ++token) {
      double score = 0;
      for (unsigned d = 0; d < dimension; ++d)
        score += value_of(q, query + d) * value_of(keys, place(sequence, head, token) + d);
      sum += weights[token] = std::exp(score / std::sqrt(dimension));
    }
    for (unsigned token = 0; token < length; ++token)
      for (unsigned d = 0; d < dimension; ++d)
        out[d] += weights[token] / sum * value_of(values, place(sequence, head, token) + d);
    return out;
  }
};

struct AttentionCase {
  unsigned dimension, heads, kv_heads, rows, splits, position;

  // The most parts that a row has.
  unsigned parts() const { return (splits + rows - 1) / rows + 1; }
};

// { cosine, sine } for each position up to `last` and each pair of dimensions.
std::vector<float2> angles_of(unsigned last, unsigned dimension) {
  std::vector<float2> angles;
  for (unsigned position = 0; position <= last; ++position)
    for (unsigned pair = 0; pair < dimension / 2; ++pair) {
      const double angle = position * std::pow(10000.0, -2.0 * pair / dimension);
      angles.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
    }
  return angles;
}

struct Attention {
  Attention(const AttentionCase& its, bool appends)
      : of(its),
        cache(of.kv_heads, of.dimension, of.rows, of.position / kPageTokens + 2),
        q(normal_halves(size_t{of.rows} * of.heads * of.dimension, 13)),
        out(q.size(), kNanHalf),
        partial(size_t{of.rows} * of.heads * of.parts() * (of.dimension + kAhead), std::nanf("")),
        arrived(size_t{of.rows} * of.kv_heads) {
    cache.fill(of.position + (appends ? 0 : 1));
  }

  void run_kernel(const uint16_t* qkv, const float2* angles, uint64_t seed) {
    const auto scale = static_cast<float>(1.4426950408889634 / std::sqrt(of.dimension));
    const auto kernel = of.dimension == 64 ? gvb_decoder_attention_64 : gvb_decoder_attention_128;
    run({{of.kv_heads, of.splits, 1}, {128, 1, 1}, 0, 1, seed}, [&] {
      kernel(qkv == nullptr ? q.data() : nullptr, qkv, angles, cache.keys.data(), cache.values.data(),
             cache.pages.data(), &of.position, partial.data(), arrived.data(), out.data(), of.heads, of.kv_heads,
             cache.pages_each, of.rows, scale);
    });
    for (const unsigned left : arrived) CHECK_EQUAL(left, 0u);
  }

  unsigned wrong() const {
    unsigned count = 0;
    for (unsigned row = 0; row < of.rows; ++row)
      for (unsigned head = 0; head < of.heads; ++head) {
        const size_t query = (size_t{row} * of.heads + head) * of.dimension;
        const auto expected = cache.attended(q, query, row, head / (of.heads / of.kv_heads), of.position + 1);
        for (unsigned d = 0; d < of.dimension; ++d) {
          const bool near = std::abs(value_of(out, query + d) - expected[d]) < 3e-3;  // also false for NaN
          count += near ? 0 : 1;
        }
      }
    return count;
  }

  const AttentionCase of;
  Cache cache;
  Halves q, out;
  std::vector<float> partial;
  std::vector<unsigned> arrived;
};

void test_attention(const AttentionCase& of) {
  Attention attention(of, false);
  attention.run_kernel(nullptr, nullptr, of.splits);
  CHECK_EQUAL(attention.wrong(), 0u);
}

// With queries, keys and values as a product leaves them: the same bits as from rotated queries and a cache that has
// the newest token, which gvb_decoder_rope makes.
void test_appending_attention(const AttentionCase& of) {
  const unsigned dimension = of.dimension, all = of.heads + 2 * of.kv_heads;
  Attention apart(of, true), together(of, true);
  const Halves qkv = normal_halves(size_t{of.rows} * all * dimension, 14);
  const std::vector<float2> angles = angles_of(of.position, dimension);
  run({{of.rows, 1, 1}, {256, 1, 1}, 0, 1, 1}, [&] {
    gvb_decoder_rope(qkv.data(), angles.data(), &of.position, apart.cache.pages.data(), apart.q.data(), nullptr,
                     nullptr, apart.cache.keys.data(), apart.cache.values.data(), of.heads, of.kv_heads, dimension, 1,
                     0, apart.cache.pages_each);
  });
  apart.run_kernel(nullptr, nullptr, 1);
  CHECK_EQUAL(apart.wrong(), 0u);
  together.run_kernel(qkv.data(), angles.data(), 2);
  CHECK(together.out == apart.out);
  CHECK(together.cache.keys == apart.cache.keys && together.cache.values == apart.cache.values);
}

void test_attentions() {
  test_attention({128, 4, 1, 1, 1, 0});    // one token
  test_attention({128, 8, 2, 2, 6, 150});  // several parts a row, a partial last page
  test_attention({128, 8, 2, 3, 5, 500});  // splits end within rows and with them
  test_attention({64, 8, 2, 5, 2, 95});    // a split has whole rows and parts of others; the last page is full
  test_attention({64, 8, 1, 2, 4, 95});    // eight heads share a KV head
  test_attention({64, 2, 2, 3, 24, 36});   // more splits than pages; no shared heads
  test_appending_attention({128, 4, 1, 1, 1, 0});
  test_appending_attention({128, 8, 2, 2, 6, 144});  // starts a new page
  test_appending_attention({128, 8, 2, 3, 2, 70});   // a split has the newest tokens of two rows
  test_appending_attention({64, 6, 2, 2, 16, 37});
  test_appending_attention({128, 8, 2, 1, 1, 130});  // the newest token is not in its warp's first page
  test_appending_attention({64, 4, 1, 1, 15, 239});  // more parts than are merged at once
}

void test_norm() {
  constexpr unsigned kRows = 2, kHidden = 640;  // not a multiple of a block's step
  const Halves delta = normal_halves(kRows * kHidden, 1), gain = normal_halves(kHidden, 2);
  std::vector<float> residual(kRows * kHidden), before(kRows * kHidden);
  for (unsigned i = 0; i < kRows * kHidden; ++i) before[i] = residual[i] = gvb::normal_value(3, i);
  for (const bool with_delta : {true, false}) {
    residual = before;
    Halves out(kRows * kHidden, kNanHalf);
    run({{kRows, 1, 1}, {256, 1, 1}, 0, 1, 1}, [&] {
      gvb_decoder_norm(residual.data(), with_delta ? delta.data() : nullptr, 0.5f, gain.data(), 0.25f, out.data(),
                       kHidden);
    });
    for (unsigned row = 0; row < kRows; ++row) {
      std::vector<double> sum(kHidden);
      double squares = 0;
      for (unsigned i = 0; i < kHidden; ++i) {
        const size_t at = row * kHidden + i;
        sum[i] = before[at] + (with_delta ? 0.5 * value_of(delta, at) : 0);
        squares += sum[i] * sum[i];
        CHECK_NEAR(residual[at], sum[i], 1e-5);
      }
      const double factor = 0.25 / std::sqrt(squares / kHidden + 1e-5);
      for (unsigned i = 0; i < kHidden; ++i)
        CHECK_NEAR(value_of(out, row * kHidden + i), sum[i] * factor * value_of(gain, i), 2e-3);
    }
  }
}

void test_rope() {
  constexpr unsigned kHeads = 4, kKvHeads = 2, kDimension = 64, kHalf = 32, kRows = 4, kPerSequence = 2, kAll = 8;
  Cache cache(kKvHeads, kDimension, 3, 3);
  const unsigned positions[] = {31, 32};
  std::vector<float2> angles(48 * kHalf);
  for (unsigned i = 0; i < angles.size(); ++i) {
    const double angle = i / kHalf * std::pow(10000.0, -2.0 * (i % kHalf) / kDimension);
    angles[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  const Halves qkv = normal_halves(kRows * kAll * kDimension, 4);
  Halves q(kRows * kHeads * kDimension, kNanHalf), k(kRows * kKvHeads * kDimension, kNanHalf), v = k;
  run({{kRows, 1, 1}, {256, 1, 1}, 0, 1, 1}, [&] {
    gvb_decoder_rope(qkv.data(), angles.data(), positions, cache.pages.data(), q.data(), k.data(), v.data(),
                     cache.keys.data(), cache.values.data(), kHeads, kKvHeads, kDimension, kPerSequence, 1, 3);
  });
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned head = 0; head < kAll; ++head)
      for (unsigned d = 0; d < kDimension; ++d) {
        const unsigned position = positions[row % kPerSequence], kv = (head - kHeads) % kKvHeads;
        const size_t from = (row * kAll + head) * kDimension;
        const double angle = position * std::pow(10000.0, -2.0 * (d % kHalf) / kDimension);
        const double other = value_of(qkv, from + (d + kHalf) % kDimension) * (d < kHalf ? -1 : 1);
        const bool is_value = head >= kHeads + kKvHeads;
        const double expected =
            is_value ? value_of(qkv, from + d) : value_of(qkv, from + d) * std::cos(angle) + other * std::sin(angle);
        const size_t at = cache.place(1 + row / kPerSequence, kv, position) + d;
        const size_t copy = (row * kKvHeads + kv) * kDimension + d;
        if (head < kHeads) CHECK_NEAR(value_of(q, (row * kHeads + head) * kDimension + d), expected, 4e-3);
        if (head < kHeads) continue;
        CHECK_NEAR(value_of(is_value ? cache.values : cache.keys, at), expected, 4e-3);
        CHECK_NEAR(value_of(is_value ? v : k, copy), expected, 4e-3);
      }
  unsigned written = 0;
  for (const uint16_t half : cache.keys) written += half != kNanHalf;
  CHECK_EQUAL(written, kRows * kKvHeads * kDimension);
}

void test_swiglu() {
  constexpr unsigned kRows = 2, kWidth = 520;
  const Halves gate_up = normal_halves(kRows * 2 * kWidth, 5);
  Halves out(kRows * kWidth, kNanHalf);
  run({{2, kRows, 1}, {256, 1, 1}, 0, 1, 1}, [&] { gvb_decoder_swiglu(gate_up.data(), out.data(), kWidth); });
  for (unsigned i = 0; i < kRows * kWidth; ++i) {
    const size_t at = i / kWidth * 2 * kWidth + i % kWidth;
    const double gate = value_of(gate_up, at);
    CHECK_NEAR(value_of(out, i), gate / (1 + std::exp(-gate)) * value_of(gate_up, at + kWidth), 3e-3);
  }
}

void test_embed() {
  constexpr unsigned kHidden = 520;
  const Halves table = normal_halves(3 * kHidden, 6);
  const unsigned tokens[] = {2, 0};
  std::vector<float> residual(2 * kHidden, std::nanf(""));
  run({{2, 1, 1}, {256, 1, 1}, 0, 1, 1}, [&] { gvb_decoder_embed(table.data(), tokens, residual.data(), kHidden, 3); });
  for (unsigned i = 0; i < 2 * kHidden; ++i)
    CHECK_EQUAL(residual[i], static_cast<float>(value_of(table, tokens[i / kHidden] * kHidden + i % kHidden)));
}

struct Published {
  std::vector<unsigned> tokens, words;
  unsigned state[2];
};

Published publish(const Halves& logits, unsigned vocabulary, unsigned parts) {
  constexpr unsigned kRows = 2, kKept = 4;
  std::vector<Candidate> candidates(kRows * parts);
  Published out = {{7, 7}, std::vector<unsigned>(2 + kKept * (2 + kRows)), {16, 5}};
  run({{parts, kRows, 1}, {256, 1, 1}, 0, 1, parts},
      [&] { gvb_decoder_pick(logits.data(), vocabulary, candidates.data()); });
  run({{1, 1, 1}, {256, 1, 1}, 0, 1, 1}, [&] {
    gvb_decoder_publish(candidates.data(), parts, kRows, 3, out.tokens.data(), out.state, out.words.data(), kKept);
  });
  return out;
}

void test_pick() {
  constexpr unsigned kVocabulary = 1100, kRecord = 2 + 5 % 4 * 4;
  Halves logits = normal_halves(2 * kVocabulary, 8);
  const auto largest_at = [&](unsigned row) {
    unsigned best = 0;
    for (unsigned i = 1; i < kVocabulary; ++i)
      if (value_of(logits, row * kVocabulary + i) > value_of(logits, row * kVocabulary + best)) best = i;
    return best;
  };
  const Published one = publish(logits, kVocabulary, 1), several = publish(logits, kVocabulary, 3);
  for (unsigned row = 0; row < 2; ++row) {
    CHECK_EQUAL(one.tokens[row], largest_at(row));
    CHECK_EQUAL(one.words[kRecord + 2 + row], largest_at(row));
  }
  CHECK(one.tokens == several.tokens && one.words == several.words);
  CHECK_EQUAL(one.words[0], 6u);
  CHECK_EQUAL(one.state[0], 19u);
  CHECK_EQUAL(one.state[1], 6u);
  // Among equal logits the first wins; a single bit changes the checksum; a logit that is not finite is reported.
  logits[kVocabulary + 3] = logits[kVocabulary + largest_at(1)];
  logits[40] = static_cast<uint16_t>(logits[40] ^ 1);
  const Published changed = publish(logits, kVocabulary, 3);
  CHECK_EQUAL(changed.tokens[1], std::min(3u, one.tokens[1]));
  CHECK(changed.words[kRecord] != one.words[kRecord] || changed.words[kRecord + 1] != one.words[kRecord + 1]);
  logits[kVocabulary + 77] = kNanHalf;
  const Published broken = publish(logits, kVocabulary, 3);
  CHECK_EQUAL(broken.words[kRecord + 3], 0xffffffffu);
  CHECK_EQUAL(broken.tokens[1], 0u);
}

}  // namespace

void test_decoder() {
  test_embed();
  test_norm();
  test_rope();
  test_attentions();
  test_swiglu();
  test_pick();
}
