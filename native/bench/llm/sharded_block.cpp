#include "bench/llm/sharded_block.h"

#include <algorithm>

#include "bench/llm/gemm_check.h"
#include "bench/llm/normal.h"
#include "bench/llm/number_bits.h"

namespace gvb {

namespace {

constexpr Number kNumber = Number::kBf16;
constexpr size_t kNumberBytes = 2;
constexpr unsigned kShardPoison = 0xffffffff;  // NaNs
constexpr size_t kPlaces = 128;                // per result

DeviceMemory numbers(const Cuda& cuda, uint64_t count) { return make_memory(cuda, count * kNumberBytes); }

// The inner sizes of attention and MLP in the unsharded block.
std::array<unsigned, 2> inner_sizes(const BlockShape& shape) { return {shape.hidden, shape.mlp}; }

}  // namespace

uint64_t ShardedBlock::bytes(const BlockShape& shape, const Shard& shard) {
  uint64_t count = uint64_t{shape.tokens} * shape.hidden;
  for (const unsigned whole : inner_sizes(shape)) {
    const uint64_t inner = whole / shard.ranks;
    count += 2 * inner * shape.hidden + shape.tokens * inner + 2 * uint64_t{shape.tokens} * shape.hidden;
  }
  return count * kNumberBytes;
}

ShardedBlock::ShardedBlock(DeviceSession& session, const BlockShape& shape, const Shard& shard, uint64_t seed)
    : cuda_(session.cuda),
      shape_(shape),
      shard_(shard),
      input_(numbers(session.cuda, activations())),
      counter_(session.cuda) {
  abi::CUdeviceptr input = input_.get();
  for (const unsigned whole_inner : inner_sizes(shape)) {
    const unsigned inner = whole_inner / shard.ranks;
    const uint64_t weights = uint64_t{inner} * shape.hidden;
    pairs_.push_back({inner, numbers(cuda_, weights), numbers(cuda_, weights),
                      numbers(cuda_, uint64_t{shape.tokens} * inner), numbers(cuda_, activations()),
                      numbers(cuda_, whole() ? 1 : activations())});
    const Pair& pair = pairs_.back();
    add_product(session, {kNumber, shape.tokens, inner, shape.hidden}, {input, pair.first.get(), pair.between.get()});
    add_product(session, {kNumber, shape.tokens, shape.hidden, inner},
                {pair.between.get(), pair.second.get(), pair.part.get()});
    input = reduction(pairs_.size() - 1).to;
  }
  fill(session, seed);
}

void ShardedBlock::add_product(DeviceSession& session, const GemmShape& shape, const Gemm::Operands& operands) {
  products_.push_back({shape, std::make_unique<Gemm>(session, shape), operands});
}

// Every rank gets its part of the whole block's numbers.
void ShardedBlock::fill(DeviceSession& session, uint64_t seed) const {
  fill_normal(session, nullptr, {input_.get(), activations(), kNumber, seed});
  const uint64_t hidden = shape_.hidden;
  for (const Pair& pair : pairs_) {
    const uint64_t inner = pair.inner, from = inner * shard_.rank;
    fill_normal_part(session, nullptr, {pair.first.get(), inner, hidden, hidden, from * hidden, kNumber, ++seed});
    fill_normal_part(session, nullptr, {pair.second.get(), hidden, inner, inner * shard_.ranks, from, kNumber, ++seed});
  }
  GVB_CALL(cuda_, "filling weights", cuCtxSynchronize);
}

double ShardedBlock::flops() const {
  double sum = 0;
  for (const Product& product : products_) sum += product.gemm->flops();
  return sum;
}

uint64_t ShardedBlock::weight_bytes() const {
  uint64_t count = 0;
  for (const Pair& pair : pairs_) count += uint64_t{2} * pair.inner * shape_.hidden;
  return count * kNumberBytes;
}

uint64_t ShardedBlock::reduced_bytes() const { return whole() ? 0 : pairs_.size() * activations() * kNumberBytes; }

Ranks::Numbers ShardedBlock::reduction(size_t pair) const {
  const Pair& its = pairs_[pair];
  return {its.part.get(), whole() ? its.part.get() : its.sum.get(), activations(), abi::ncclBfloat16};
}

// From the last result to the first, so that nothing is overwritten before it is read.
void ShardedBlock::poison() const {
  const auto overwrite = [&](const DeviceMemory& memory, uint64_t count) {
    GVB_CALL(cuda_, "clearing activations", cuMemsetD32_v2, memory.get(), kShardPoison,
             count * kNumberBytes / sizeof kShardPoison);
  };
  for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
    if (!whole()) overwrite(pair->sum, activations());
    overwrite(pair->part, activations());
    overwrite(pair->between, uint64_t{shape_.tokens} * pair->inner);
  }
  GVB_CALL(cuda_, "clearing activations", cuCtxSynchronize);
}

std::string ShardedBlock::step(const Ranks& ranks, abi::CUstream stream) {
  for (size_t i = 0; i < products_.size(); ++i) {
    Product& product = products_[i];
    product.gemm->launch(stream, product.operands, counter_.device());
    launched_ += product.gemm->blocks();
    if (whole() || i % 2 == 0) continue;
    std::string failure = ranks.all_reduce(reduction(i / 2), stream);
    if (!failure.empty()) return failure;
  }
  return "";
}

std::string ShardedBlock::reduce(const Ranks& ranks, abi::CUstream stream) const {
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    std::string failure = ranks.all_reduce(reduction(pair), stream);
    if (!failure.empty()) return failure;
  }
  return "";
}

ShardSample ShardedBlock::sample(uint64_t seed) const {
  ShardSample out;
  std::mt19937_64 random(seed);
  std::vector<uint64_t> places(kPlaces);
  for (uint64_t& place : places) place = random() % activations();
  const auto read = [&](abi::CUdeviceptr from, uint64_t place) {
    uint16_t bits = 0;
    GVB_CALL(cuda_, "reading a result", cuMemcpyDtoH_v2, &bits, from + place * kNumberBytes, sizeof bits);
    return double{load_number(&bits, 0, kNumber)};
  };
  for (size_t pair = 0; pair < pairs_.size(); ++pair)
    for (const uint64_t place : places) {
      out.parts.push_back(read(reduction(pair).from, place));
      out.sums.push_back(read(reduction(pair).to, place));
    }
  for (const Product& product : products_) {
    const ProductSample one = sample_product(cuda_, product.shape, product.operands, random);
    out.elements += one.elements;
    out.worst_allowed = std::max(out.worst_allowed, one.worst_allowed);
  }
  return out;
}

}  // namespace gvb
