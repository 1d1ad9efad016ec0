#include "sim/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "bench/llm/normal_value.h"
#include "sim/work/host_arithmetic.h"
#include "sim/work/tensor_map.h"

namespace gvb::sim {
namespace {

struct Attending {
  uint64_t q, k, v, out, counter;
  size_t width, batch, heads, kv_heads, length;
  bool causal;
  float scale;  // for exponents of two
  Number number;

  size_t count(size_t its_heads) const { return batch * length * its_heads * width; }
};

// Half-precision numbers of one head of one sequence, [token][width].
std::vector<float> head_of(const Attending& its, uint64_t values, size_t heads, size_t sequence, size_t head) {
  std::vector<float> wide(its.length * its.width);
  for (size_t token = 0; token < its.length; ++token)
    for (size_t i = 0; i < its.width; ++i)
      wide[token * its.width + i] =
          load_number(reinterpret_cast<const void*>(values),
                      ((sequence * its.length + token) * heads + head) * its.width + i, its.number);
  return wide;
}

void attend_head(const Attending& its, size_t sequence, size_t head) {
  const size_t kv_head = head / (its.heads / its.kv_heads), width = its.width;
  const std::vector<float> q = head_of(its, its.q, its.heads, sequence, head),
                           k = head_of(its, its.k, its.kv_heads, sequence, kv_head),
                           v = head_of(its, its.v, its.kv_heads, sequence, kv_head);
  std::vector<float> weights(its.length), row(width);
  for (size_t query = 0; query < its.length; ++query) {
    const size_t keys = its.causal ? query + 1 : its.length;
    for (size_t key = 0; key < keys; ++key) weights[key] = dot(&q[query * width], &k[key * width], width) * its.scale;
    const float largest = *std::max_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(keys));
    std::fill(row.begin(), row.end(), 0.0f);
    float sum = 0;
    for (size_t key = 0; key < keys; ++key) {
      const float weight = std::exp2(weights[key] - largest);
      sum += weight;
      for (size_t i = 0; i < width; ++i) row[i] += weight * v[key * width + i];
    }
    for (size_t i = 0; i < width; ++i)
      store_number(reinterpret_cast<void*>(its.out), ((sequence * its.length + query) * its.heads + head) * width + i,
                   row[i] / sum, its.number);
  }
}

// Returns nothing if another driver made a tensor map.
bool read_maps(Attending& its, const Arguments& arguments) {
  uint64_t* const addresses[] = {&its.q, &its.k, &its.v, &its.out};
  for (size_t i = 0; i < 4; ++i) {
    const auto map = arguments.get<abi::CUtensorMap>(i);
    const TensorDescription* described = described_by(map);
    if (described == nullptr) return false;
    *addresses[i] = described->address;
    if (i == 1) its.kv_heads = described->dimensions[1];
    if (i == 0) its.batch = described->dimensions[3];
  }
  return true;
}

}  // namespace

Plan plan_attention_forward(Number number, unsigned width, AttentionVariant variant, const Arguments& arguments,
                            const Geometry& geometry, const CardSettings& card) {
  Attending its{};
  its.number = number;
  its.width = width;
  its.counter = arguments.get<uint64_t>(4);
  auto tiles = static_cast<uint64_t>(blocks_of(geometry));
  Plan plan;
  if (variant == AttentionVariant::kSm90) {
    if (!read_maps(its, arguments)) {
      plan.fault = kOutOfBounds;
      return plan;
    }
    its.length = arguments.get<unsigned>(6);
    its.heads = arguments.get<unsigned>(7);
    tiles = arguments.get<unsigned>(9);
    its.causal = arguments.get<unsigned>(10) != 0;
    its.scale = arguments.get<float>(11);
  } else {
    its.heads = geometry.grid[1];
    its.batch = geometry.grid[2];
    its.length = arguments.get<unsigned>(5);
    uint64_t* const addresses[] = {&its.q, &its.k, &its.v, &its.out};
    for (size_t i = 0; i < 4; ++i) *addresses[i] = arguments.get<uint64_t>(i);
    its.kv_heads = arguments.get<unsigned>(7);
    its.causal = arguments.get<unsigned>(8) != 0;
    its.scale = arguments.get<float>(9);
  }
  const size_t bytes = its.count(its.heads) * 2, kv_bytes = its.count(its.kv_heads) * 2;
  const auto length = static_cast<double>(its.length);
  const double pairs = its.causal ? length * (length + 1) / 2 : length * length;
  const double flops = 4.0 * static_cast<double>(its.batch * its.heads * width) * pairs;
  const double memory_ns = static_cast<double>(2 * bytes + 2 * kv_bytes) / card.dram_gbs;
  plan.nanoseconds = std::max(flops / (card.tensor_tflops * 1e3), memory_ns);
  plan.demand = demand_of(kDram, memory_ns / plan.nanoseconds);
  plan.touches = {{its.q, bytes, 16, Access::kRead},
                  {its.k, kv_bytes, 16, Access::kRead},
                  {its.v, kv_bytes, 16, Access::kRead},
                  {its.out, bytes, 16, Access::kWrite}};
  plan.run = [its](const Placement&) {
    for (size_t sequence = 0; sequence < its.batch; ++sequence)
      for (size_t head = 0; head < its.heads; ++head) attend_head(its, sequence, head);
  };
  if (its.counter != 0) count(&plan, its.counter, tiles);
  return plan;
}

Plan plan_checksum(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto words = arguments.get<uint64_t>(0), count = arguments.get<uint64_t>(1), sum = arguments.get<uint64_t>(2);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count * sizeof(uint32_t)) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{words, count * sizeof(uint32_t), 4, Access::kRead}, {sum, 8, 8, Access::kBoth}};
  plan.run = [=](const Placement&) {
    for (uint64_t i = 0; i < count; ++i) add(sum, mixed(i << 32 ^ reinterpret_cast<const uint32_t*>(words)[i]));
  };
  return plan;
}

}  // namespace gvb::sim
