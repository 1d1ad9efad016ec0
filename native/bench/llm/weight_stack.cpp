#include "bench/llm/weight_stack.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "bench/gpu_state.h"
#include "bench/llm/normal.h"
#include "bench/llm/normal_value.h"

namespace gvb {

namespace {

constexpr unsigned kWeightSide = 8192;
constexpr uint64_t kLeastMemory = uint64_t{512} << 20;
constexpr uint64_t kBesideWeights = uint64_t{64} << 20;  // inputs, outputs of every batch, kernels
constexpr uint8_t kWeightPoison = 0xff;                  // NaN in every format
constexpr unsigned kSampledElements = 16;

uint64_t bytes_of_layer(const StackShape& shape) { return uint64_t{shape.n} * shape.k * bytes_of(shape.number); }

StackShape completed(const DeviceSession& session, StackShape shape) {
  const uint64_t l2 = card_l2_bytes(session);
  if (shape.n == 0 || shape.k == 0) {
    shape.n = shape.k = kWeightSide;
    while (bytes_of_layer(shape) < 2 * l2) shape.n *= 2;
  }
  if (shape.layers != 0) return shape;
  const uint64_t layer = bytes_of_layer(shape), wanted = (8 * l2 + layer - 1) / layer;
  const uint64_t room = visible_memory(session).free_bytes.value_or(4 * wanted * layer) / 4 / layer;
  shape.layers = static_cast<unsigned>(std::max(uint64_t{1}, std::min(wanted, room)));
  return shape;
}

// The seed of the inputs (0), or of a layer's weights.
uint64_t seed_of(const StackShape& shape, unsigned which) { return shape.seed + which; }

}  // namespace

std::string no_room_for_stack(const DeviceSession& session, const StackShape& shape) {
  const auto free = visible_memory(session).free_bytes;
  const StackShape whole = completed(session, shape);
  const uint64_t needed = std::max(kLeastMemory, bytes_of_layer(whole) * whole.layers + kBesideWeights);
  if (!free || *free >= needed) return "";
  return "it needs " + std::to_string(needed >> 20) + " MiB of memory, the process may use " +
         std::to_string(*free >> 20) + " MiB";
}

WeightStack::WeightStack(DeviceSession& session, const StackShape& shape)
    : session_(session),
      cuda_(session.cuda),
      shape_(completed(session, shape)),
      counter_(cuda_),
      x_(make_memory(cuda_, size_t{SkinnyGemm::kMostRows} * shape_.k * each())),
      w_(make_memory(cuda_, bytes_of_layer(shape_) * shape_.layers)),
      random_(static_cast<uint64_t>(now_ns())) {
  fill(x_.get(), uint64_t{SkinnyGemm::kMostRows} * shape_.k, seed_of(shape_, 0));
  for (unsigned layer = 0; layer < shape_.layers; ++layer)
    fill(weights(layer), uint64_t{shape_.n} * shape_.k, seed_of(shape_, layer + 1));
  GVB_CALL(cuda_, "waiting for weights", cuCtxSynchronize);
}

WeightStack::~WeightStack() { cuda_.try_call(cuda_.api.cuCtxSynchronize); }

void WeightStack::fill(abi::CUdeviceptr pointer, uint64_t count, uint64_t seed) {
  fill_normal(session_, nullptr, {pointer, count, shape_.number, seed});
}

abi::CUdeviceptr WeightStack::weights(unsigned layer) const { return w_.get() + bytes_of_layer(shape_) * layer; }

// Each batch has its own outputs, so that none overwrites part of another's.
struct WeightStack::Batch {
  SkinnyGemm product;
  DeviceMemory outputs;  // of each layer
};

abi::CUdeviceptr WeightStack::outputs(unsigned batch, unsigned layer) const {
  return batches_.at(batch)->outputs.get() + output_bytes(batch) * layer;
}

const WeightStack::Batch& WeightStack::prepared(unsigned batch) {
  auto& made = batches_.at(batch);
  if (!made)
    made.reset(new Batch{{session_, {shape_.number, batch, shape_.n, shape_.k}},
                         make_memory(cuda_, output_bytes(batch) * shape_.layers)});
  return *made;
}

void WeightStack::poison() {
  for (unsigned batch = 0; batch < batches_.size(); ++batch)
    if (batches_[batch])
      GVB_CALL(cuda_, "clearing outputs", cuMemsetD8_v2, outputs(batch, 0), kWeightPoison,
               output_bytes(batch) * shape_.layers);
  GVB_CALL(cuda_, "clearing outputs", cuCtxSynchronize);
}

const SkinnyGemm& WeightStack::product(unsigned batch) { return prepared(batch).product; }

void WeightStack::launch(abi::CUstream stream, unsigned batch, unsigned layer) {
  const SkinnyGemm& gemm = product(batch);
  gemm.launch(stream, {x_.get(), weights(layer), outputs(batch, layer)}, counter_.device());
  launched_blocks_ += gemm.blocks();
}

std::vector<uint8_t> WeightStack::read(unsigned batch, unsigned layer) const {
  std::vector<uint8_t> bytes(output_bytes(batch));
  GVB_CALL(cuda_, "reading outputs", cuMemcpyDtoH_v2, bytes.data(), outputs(batch, layer), bytes.size());
  return bytes;
}

void WeightStack::check(unsigned batch, unsigned layer) {
  counter_.check(launched_blocks_, "cuLaunchKernel");
  const std::vector<uint8_t> outputs = read(batch, layer);
  std::uniform_int_distribution<unsigned> row(0, batch - 1), column(0, shape_.n - 1);
  for (unsigned i = 0; i < kSampledElements; ++i) check_element(outputs, row(random_), column(random_), layer);
}

void WeightStack::check_element(const std::vector<uint8_t>& read, unsigned row, unsigned column, unsigned layer) const {
  const auto element = [&](uint64_t seed, uint64_t index) {
    uint8_t bytes[sizeof(float)];
    store_number(bytes, 0, normal_value(seed, index), shape_.number);
    return double{load_number(bytes, 0, shape_.number)};
  };
  double expected = 0, magnitude = 0;
  for (uint64_t k = 0; k < shape_.k; ++k) {
    const double product = element(seed_of(shape_, 0), uint64_t{row} * shape_.k + k) *
                           element(seed_of(shape_, layer + 1), uint64_t{column} * shape_.k + k);
    expected += product;
    magnitude += std::abs(product);
  }
  const double value = load_number(read.data(), size_t{row} * shape_.n + column, shape_.number);
  // Rounding of the output (bf16 has 8 bits) and of the single-precision sums.
  if (std::abs(value - expected) <= std::abs(expected) / 128 + magnitude * 1e-5) return;
  throw Failure(FailureKind::kInvalidResult, "a call reported success without doing its work: output " +
                                                 std::to_string(column) + " of sequence " + std::to_string(row) +
                                                 " of a skinny product is " + std::to_string(value) +
                                                 ", its inputs give " + std::to_string(expected) + ".");
}

std::string WeightStack::checksum(unsigned batch, unsigned layer) const {
  // FNV-1a, 64 bits.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : read(batch, layer)) hash = (hash ^ byte) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace gvb
