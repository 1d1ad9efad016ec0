#include "sim/kernels/decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/work/host_arithmetic.h"

namespace gvb::sim {
namespace {

constexpr unsigned kPageTokens = 16;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr uint64_t kNotFinite = ~uint64_t{0};

float half_at(const uint16_t* halves, size_t index) { return decode<F16>(halves[index]); }

// Only DRAM traffic determines the time.
Plan streaming(double bytes, const CardSettings& card, std::vector<Span> touches) {
  Plan plan;
  plan.nanoseconds = bytes / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = std::move(touches);
  return plan;
}

}  // namespace

Plan plan_decoder_embed(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto table = arguments.get<uint64_t>(0), tokens = arguments.get<uint64_t>(1),
             residual = arguments.get<uint64_t>(2);
  const auto hidden = arguments.get<unsigned>(3), vocabulary = arguments.get<unsigned>(4);
  const size_t rows = geometry.grid[0], bytes = rows * hidden * sizeof(float);
  Plan plan = streaming(static_cast<double>(bytes) * 1.5, card,
                        {{table, size_t{vocabulary} * hidden * 2, 4, Access::kRead},
                         {tokens, rows * 4, 4, Access::kRead},
                         {residual, bytes, 8, Access::kWrite}});
  plan.run = [=](const Placement&) {
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < hidden; ++i)
        at<float>(residual)[row * hidden + i] =
            half_at(at<uint16_t>(table), size_t{std::min(at<unsigned>(tokens)[row], vocabulary - 1)} * hidden + i);
  };
  return plan;
}

Plan plan_decoder_norm(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto residual = arguments.get<uint64_t>(0), delta = arguments.get<uint64_t>(1);
  const auto delta_scale = arguments.get<float>(2);
  const auto gain = arguments.get<uint64_t>(3);
  const auto out_scale = arguments.get<float>(4);
  const auto out = arguments.get<uint64_t>(5);
  const auto hidden = arguments.get<unsigned>(6);
  const size_t rows = geometry.grid[0], count = rows * hidden;
  Plan plan = streaming(static_cast<double>(count) * 12, card,
                        {{residual, count * 4, 8, Access::kBoth},
                         {gain, size_t{hidden} * 2, 4, Access::kRead},
                         {out, count * 2, 4, Access::kWrite}});
  if (delta != 0) plan.touches.push_back({delta, count * 2, 4, Access::kRead});
  plan.run = [=](const Placement&) {
    for (size_t row = 0; row < rows; ++row) {
      float* values = at<float>(residual) + row * hidden;
      float squares = 0;
      for (size_t i = 0; i < hidden; ++i) {
        if (delta != 0) values[i] += delta_scale * half_at(at<uint16_t>(delta), row * hidden + i);
        squares += values[i] * values[i];
      }
      const float factor = out_scale / std::sqrt(squares / static_cast<float>(hidden) + 1e-5f);
      for (size_t i = 0; i < hidden; ++i)
        at<uint16_t>(out)[row * hidden + i] = half_of(values[i] * factor * half_at(at<uint16_t>(gain), i));
    }
  };
  return plan;
}

namespace {

// Rotates the two halves of a head by the angle of its position.
void turn(uint16_t* head, unsigned dimension, const float* angles) {
  const unsigned half = dimension / 2;
  for (unsigned d = 0; d < half; ++d) {
    const float x = decode<F16>(head[d]), y = decode<F16>(head[half + d]);
    head[d] = half_of(x * angles[2 * d] - y * angles[2 * d + 1]);
    head[half + d] = half_of(y * angles[2 * d] + x * angles[2 * d + 1]);
  }
}

struct Rope {
  uint64_t qkv, angles, positions, pages, q, k, v, key_pages, value_pages;
  unsigned heads, kv_heads, dimension, rows_per_sequence, first_sequence, pages_per_sequence;
  size_t rows;

  void run_head(size_t row, unsigned head) const {
    const unsigned position = at<unsigned>(positions)[row % rows_per_sequence];
    const size_t sequence = first_sequence + row / rows_per_sequence;
    const size_t page = at<unsigned>(pages)[sequence * pages_per_sequence + position / kPageTokens];
    std::vector<uint16_t> values(dimension);
    const uint16_t* from = at<uint16_t>(qkv) + (row * (heads + 2 * kv_heads) + head) * dimension;
    std::copy_n(from, dimension, values.begin());
    if (head < heads + kv_heads) turn(values.data(), dimension, at<float>(angles) + size_t{position} * dimension);
    if (head < heads) {
      std::copy(values.begin(), values.end(), at<uint16_t>(q) + (row * heads + head) * dimension);
      return;
    }
    const bool is_key = head < heads + kv_heads;
    const unsigned kv_head = head - heads - (is_key ? 0 : kv_heads);
    const uint64_t copy = is_key ? k : v;
    if (copy != 0) std::copy(values.begin(), values.end(), at<uint16_t>(copy) + (row * kv_heads + kv_head) * dimension);
    std::copy(values.begin(), values.end(),
              at<uint16_t>(is_key ? key_pages : value_pages) +
                  ((page * kv_heads + kv_head) * kPageTokens + position % kPageTokens) * dimension);
  }
};

}  // namespace

Plan plan_decoder_rope(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  Rope rope{};
  uint64_t* const pointers[] = {&rope.qkv, &rope.angles, &rope.positions, &rope.pages,      &rope.q,
                                &rope.k,   &rope.v,      &rope.key_pages, &rope.value_pages};
  unsigned* const numbers[] = {&rope.heads,          &rope.kv_heads,          &rope.dimension, &rope.rows_per_sequence,
                               &rope.first_sequence, &rope.pages_per_sequence};
  for (size_t i = 0; i < 9; ++i) *pointers[i] = arguments.get<uint64_t>(i);
  for (size_t i = 0; i < 6; ++i) *numbers[i] = arguments.get<unsigned>(9 + i);
  rope.rows = geometry.grid[0];
  const size_t row_bytes = size_t{rope.heads + 2 * rope.kv_heads} * rope.dimension * 2;
  const size_t kv_bytes = rope.rows * rope.kv_heads * rope.dimension * 2;
  Plan plan = streaming(static_cast<double>(rope.rows * row_bytes) * 2, card,
                        {{rope.qkv, rope.rows * row_bytes, 4, Access::kRead},
                         {rope.q, rope.rows * rope.heads * rope.dimension * 2, 4, Access::kWrite},
                         {rope.key_pages, size_t{rope.dimension} * 2, 16, Access::kBoth},
                         {rope.value_pages, size_t{rope.dimension} * 2, 16, Access::kBoth}});
  for (const uint64_t copy : {rope.k, rope.v})
    if (copy != 0) plan.touches.push_back({copy, kv_bytes, 4, Access::kWrite});
  plan.run = [rope](const Placement&) {
    for (size_t row = 0; row < rope.rows; ++row)
      for (unsigned head = 0; head < rope.heads + 2 * rope.kv_heads; ++head) rope.run_head(row, head);
  };
  return plan;
}

namespace {

struct PagedAttending {
  uint64_t q, qkv, angles, key_pages, value_pages, pages, position, partial, arrived, out;
  unsigned heads, kv_heads, pages_per_sequence, rows;
  float scale;
  unsigned dimension;

  size_t place(size_t row, unsigned kv_head, unsigned token) const {
    const size_t page = at<unsigned>(pages)[row * pages_per_sequence + token / kPageTokens];
    return ((page * kv_heads + kv_head) * kPageTokens + token % kPageTokens) * dimension;
  }

  std::vector<uint16_t> head_of(size_t row, unsigned head) const {
    const uint16_t* from = qkv == 0 ? at<uint16_t>(q) + (row * heads + head) * dimension
                                    : at<uint16_t>(qkv) + (row * (heads + 2 * kv_heads) + head) * dimension;
    std::vector<uint16_t> values(from, from + dimension);
    if (qkv != 0 && head < heads + kv_heads)
      turn(values.data(), dimension, at<float>(angles) + size_t{*at<unsigned>(position)} * dimension);
    return values;
  }

  void append(size_t row) const {
    for (unsigned kv_head = 0; kv_head < kv_heads; ++kv_head) {
      const size_t to = place(row, kv_head, *at<unsigned>(position));
      const std::vector<uint16_t> key = head_of(row, heads + kv_head), value = head_of(row, heads + kv_heads + kv_head);
      std::copy(key.begin(), key.end(), at<uint16_t>(key_pages) + to);
      std::copy(value.begin(), value.end(), at<uint16_t>(value_pages) + to);
    }
  }

  void run_head(size_t row, unsigned head) const {
    const unsigned length = *at<unsigned>(position) + 1, kv_head = head / (heads / kv_heads);
    const std::vector<uint16_t> query = head_of(row, head);
    std::vector<float> scores(length), sums(dimension);
    float largest = -std::numeric_limits<float>::infinity(), weight = 0;
    for (unsigned token = 0; token < length; ++token) {
      const uint16_t* key = at<uint16_t>(key_pages) + place(row, kv_head, token);
      float score = 0;
      for (unsigned d = 0; d < dimension; ++d) score += half_at(query.data(), d) * half_at(key, d);
      largest = std::max(largest, scores[token] = score * scale);
    }
    for (unsigned token = 0; token < length; ++token) {
      const uint16_t* value = at<uint16_t>(value_pages) + place(row, kv_head, token);
      const float factor = std::exp2(scores[token] - largest);
      weight += factor;
      for (unsigned d = 0; d < dimension; ++d) sums[d] += factor * half_at(value, d);
    }
    for (unsigned d = 0; d < dimension; ++d)
      at<uint16_t>(out)[(row * heads + head) * dimension + d] = half_of(sums[d] / weight);
  }

  void run() const {
    for (size_t row = 0; row < rows; ++row) {
      if (qkv != 0) append(row);
      for (unsigned head = 0; head < heads; ++head) run_head(row, head);
    }
  }
};

// The time covers the whole capacity of the pages: how much of it is in use is known only in device memory.
Plan plan_attention(const Arguments& arguments, const Geometry& geometry, const CardSettings& card,
                    unsigned dimension) {
  PagedAttending of{};
  uint64_t* const pointers[] = {&of.q,     &of.qkv,      &of.angles,  &of.key_pages, &of.value_pages,
                                &of.pages, &of.position, &of.partial, &of.arrived,   &of.out};
  unsigned* const numbers[] = {&of.heads, &of.kv_heads, &of.pages_per_sequence, &of.rows};
  for (size_t i = 0; i < 10; ++i) *pointers[i] = arguments.get<uint64_t>(i);
  for (size_t i = 0; i < 4; ++i) *numbers[i] = arguments.get<unsigned>(10 + i);
  of.scale = arguments.get<float>(14);
  of.dimension = dimension;
  const size_t rows = std::max(1u, of.rows), splits = geometry.grid[1], parts = (splits + rows - 1) / rows + 1;
  const size_t head_bytes = size_t{dimension} * 2;
  const size_t cache = rows * of.pages_per_sequence * kPageTokens * of.kv_heads * head_bytes * 2;
  const Access access = of.qkv == 0 ? Access::kRead : Access::kBoth;
  Plan plan = streaming(static_cast<double>(cache), card,
                        {{of.key_pages, cache / 2, 16, access},
                         {of.value_pages, cache / 2, 16, access},
                         {of.partial, rows * of.heads * parts * (dimension + 4) * sizeof(float), 16, Access::kWrite},
                         {of.arrived, rows * of.kv_heads * sizeof(unsigned), 4, Access::kBoth},
                         {of.out, rows * of.heads * head_bytes, 8, Access::kWrite}});
  if (of.qkv == 0)
    plan.touches.push_back({of.q, rows * of.heads * head_bytes, 16, Access::kRead});
  else
    plan.touches.push_back({of.qkv, rows * (of.heads + 2 * of.kv_heads) * head_bytes, 16, Access::kRead});
  plan.run = [of](const Placement&) { of.run(); };
  return plan;
}

}  // namespace

Plan plan_decoder_attention_64(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  return plan_attention(arguments, geometry, card, 64);
}

Plan plan_decoder_attention_128(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  return plan_attention(arguments, geometry, card, 128);
}

Plan plan_decoder_swiglu(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto gate_up = arguments.get<uint64_t>(0), out = arguments.get<uint64_t>(1);
  const auto width = arguments.get<unsigned>(2);
  const size_t rows = geometry.grid[1], count = rows * width;
  Plan plan = streaming(static_cast<double>(count) * 6, card,
                        {{gate_up, count * 4, 4, Access::kRead}, {out, count * 2, 4, Access::kWrite}});
  plan.run = [=](const Placement&) {
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < width; ++i) {
        const float gate = half_at(at<uint16_t>(gate_up), row * 2 * width + i);
        const float up = half_at(at<uint16_t>(gate_up), row * 2 * width + width + i);
        at<uint16_t>(out)[row * width + i] = half_of(gate / (1 + std::exp(-gate)) * up);
      }
  };
  return plan;
}

namespace {

struct Candidate {
  uint64_t key, checksum;
};

uint64_t key_of(float value, unsigned index) {
  if (!std::isfinite(value)) return kNotFinite;
  const uint32_t bits = bits_of(value);
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | (0xffffffffu - index);
}

}  // namespace

// The first part of a row stands for the whole row.
Plan plan_decoder_pick(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto logits = arguments.get<uint64_t>(0);
  const auto count = arguments.get<unsigned>(1);
  const auto candidates = arguments.get<uint64_t>(2);
  const size_t parts = geometry.grid[0], rows = geometry.grid[1];
  Plan plan = streaming(static_cast<double>(rows * count) * 2, card,
                        {{logits, rows * count * 2, 4, Access::kRead},
                         {candidates, rows * parts * sizeof(Candidate), 8, Access::kWrite}});
  plan.run = [=](const Placement&) {
    for (size_t row = 0; row < rows; ++row) {
      const uint16_t* of_row = at<uint16_t>(logits) + row * count;
      Candidate* out = at<Candidate>(candidates) + row * parts;
      std::fill_n(out, parts, Candidate{0, 0});
      for (unsigned i = 0; i < count; i += 2) {
        for (unsigned j = i; j < i + 2; ++j) out->key = std::max(out->key, key_of(half_at(of_row, j), j));
        const uint64_t pair = of_row[i] | uint32_t{of_row[i + 1]} << 16;
        out->checksum += pair * (2 * uint64_t{i} + kGolden);
      }
    }
  };
  return plan;
}

namespace {

struct Publishing {
  uint64_t candidates, tokens, state, words;
  unsigned parts, rows, advance, kept;

  void run() const {
    auto* position = at<unsigned>(state);
    const unsigned step = position[1];
    auto* record = at<unsigned>(words) + 2 + size_t{step % kept} * (2 + rows);
    uint64_t checksum = 0;
    for (unsigned row = 0; row < rows; ++row) {
      Candidate best = {0, 0};
      for (unsigned part = 0; part < parts; ++part) {
        const Candidate& other = at<Candidate>(candidates)[size_t{row} * parts + part];
        best.key = std::max(best.key, other.key);
        best.checksum += other.checksum;
      }
      checksum = checksum * kGolden + best.checksum;
      const bool is_finite = best.key != kNotFinite;
      const unsigned token = is_finite ? 0xffffffffu - static_cast<unsigned>(best.key) : 0xffffffffu;
      at<unsigned>(tokens)[row] = is_finite ? token : 0;
      record[2 + row] = token;
    }
    record[0] = static_cast<unsigned>(checksum);
    record[1] = static_cast<unsigned>(checksum >> 32);
    position[0] += advance;
    position[1] = step + 1;
    __atomic_store_n(at<unsigned>(words), step + 1, __ATOMIC_RELEASE);
  }
};

}  // namespace

Plan plan_decoder_publish(const Arguments& arguments, const Geometry&, const CardSettings&) {
  Publishing of{};
  of.candidates = arguments.get<uint64_t>(0);
  of.parts = arguments.get<unsigned>(1);
  of.rows = arguments.get<unsigned>(2);
  of.advance = arguments.get<unsigned>(3);
  of.tokens = arguments.get<uint64_t>(4);
  of.state = arguments.get<uint64_t>(5);
  of.words = arguments.get<uint64_t>(6);
  of.kept = arguments.get<unsigned>(7);
  Plan plan;
  plan.seen = Seen::kFromEnd;
  plan.touches = {{of.candidates, size_t{of.rows} * of.parts * sizeof(Candidate), 8, Access::kRead},
                  {of.tokens, size_t{of.rows} * 4, 4, Access::kWrite},
                  {of.state, 8, 4, Access::kBoth},
                  {of.words, 8 + size_t{of.kept} * (2 + of.rows) * 4, 4, Access::kBoth}};
  plan.run = [of](const Placement&) { of.run(); };
  return plan;
}

}  // namespace gvb::sim
