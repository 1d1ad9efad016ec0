#include "bench/llm/attention.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/block_counter.h"
#include "bench/kept_modules.h"
#include "bench/llm/tensor_map.h"
#include "bench/shared_room.h"

namespace gvb {

namespace {

struct AttentionKernel {
  Number number;
  unsigned head_dim;
  const char *name, *module;
  AttentionTile tile;
};

// Of kernels for the same numbers, those that need more shared memory first.
constexpr AttentionKernel kSm80[] = {
    {Number::kF16, 64, "gvb_attention_sm80_f16_d64", "attention_sm80_f16_d64", attention_tile_sm80(64, 2)},
    {Number::kF16, 128, "gvb_attention_sm80_f16_d128", "attention_sm80_f16_d128", attention_tile_sm80(128, 2)},
    {Number::kF16, 128, "gvb_attention_sm80_f16_d128_48k", "attention_sm80_f16_d128_48k", attention_tile_sm80(128, 1)},
    {Number::kBf16, 64, "gvb_attention_sm80_bf16_d64", "attention_sm80_bf16_d64", attention_tile_sm80(64, 2)},
    {Number::kBf16, 128, "gvb_attention_sm80_bf16_d128", "attention_sm80_bf16_d128", attention_tile_sm80(128, 2)},
    {Number::kBf16, 128, "gvb_attention_sm80_bf16_d128_48k", "attention_sm80_bf16_d128_48k",
     attention_tile_sm80(128, 1)},
};
constexpr AttentionKernel kSm90[] = {
    {Number::kF16, 64, "gvb_attention_sm90_f16_d64", "attention_sm90_f16_d64", attention_tile_sm90(64)},
    {Number::kF16, 128, "gvb_attention_sm90_f16_d128", "attention_sm90_f16_d128", attention_tile_sm90(128)},
    {Number::kBf16, 64, "gvb_attention_sm90_bf16_d64", "attention_sm90_bf16_d64", attention_tile_sm90(64)},
    {Number::kBf16, 128, "gvb_attention_sm90_bf16_d128", "attention_sm90_bf16_d128", attention_tile_sm90(128)},
};

std::string text_of(const AttentionShape& shape) {
  return std::string(name_of(shape.number)) + ", head dimension " + std::to_string(shape.head_dim) + ", batch " +
         std::to_string(shape.batch) + ", heads " + std::to_string(shape.heads) + " (" +
         std::to_string(shape.kv_heads) + " of keys and values), length " + std::to_string(shape.length);
}

void check_shape(const AttentionShape& shape) {
  const bool known = (shape.number == Number::kF16 || shape.number == Number::kBf16) &&
                     (shape.head_dim == 64 || shape.head_dim == 128);
  constexpr unsigned kMostOfGrid = 65535;
  if (known && shape.batch >= 1 && shape.batch <= kMostOfGrid && shape.kv_heads >= 1 && shape.heads <= kMostOfGrid &&
      shape.heads >= shape.kv_heads && shape.heads % shape.kv_heads == 0 && shape.length >= 1)
    return;
  throw Failure(
      FailureKind::kInvalidResult,
      "Expected attention of fp16 or bf16 with head dimension 64 or 128 and heads a multiple of those of keys "
      "and values, but received " +
          text_of(shape) + ".");
}

// The first whose blocks fit into `room`, or the one that needs least.
template <size_t kCount>
const AttentionKernel& kernel_of(const AttentionKernel (&kernels)[kCount], const AttentionShape& shape, unsigned room) {
  const AttentionKernel* found = kernels;
  for (const AttentionKernel& kernel : kernels) {
    if (kernel.number != shape.number || kernel.head_dim != shape.head_dim) continue;
    found = &kernel;
    if (kernel.tile.shared_bytes <= room) break;
  }
  return *found;
}

}  // namespace

// The maps are of the operands, for TMA, and aligned like the kernel's parameters.
struct Attention::Resident {
  explicit Resident(const DeviceSession& session) : blocks(multiprocessors_of(session)), tickets(session.cuda) {}

  const unsigned blocks;
  const BlockCounter tickets;  // of blocks that ask for their next tile
  Operands of{};
  abi::CUtensorMap q, k, v, out;
};

Attention::~Attention() = default;

Attention::Attention(DeviceSession& session, const AttentionShape& shape) : cuda_(session.cuda), shape_(shape) {
  check_shape(shape);
  const ComputeCapability capability = compute_capability(cuda_, session.device);
  if (capability.major < 8)
    throw Failure(FailureKind::kFunctionMissing,
                  "attention needs compute capability 8.0 or higher; this GPU has " + capability.text() + ".");
  // Code for sm_90a runs on no later GPU.
  const bool hopper = capability.major == 9 && capability.minor == 0;
  variant_ = hopper ? "wgmma sm_90a" : "mma.sync sm_80";
  // Two blocks of a kernel for 8.x share a multiprocessor: one multiplies while the other waits.
  const SharedRoom room = shared_room(session);
  const AttentionKernel& kernel = hopper ? kernel_of(kSm90, shape, room.most) : kernel_of(kSm80, shape, room.of_two);
  tile_ = kernel.tile;
  kernel_ = kept_module(session, kernel.module).function(kernel.name);
  allow_shared_memory(cuda_, kernel_, tile_.shared_bytes);
  if (hopper) resident_ = std::make_unique<Resident>(session);
}

double Attention::flops() const {
  const double length = shape_.length;
  const double pairs = shape_.causal ? length * (length + 1) / 2 : length * length;
  return 4.0 * shape_.batch * shape_.heads * pairs * shape_.head_dim;
}

void Attention::describe(const Operands& operands) {
  const Operands& of = resident_->of;
  if (of.q == operands.q && of.k == operands.k && of.v == operands.v && of.out == operands.out) return;
  const auto map = [&](abi::CUdeviceptr address, unsigned heads, unsigned tokens) {
    const uint64_t width = shape_.head_dim, row = width * heads, sequence = row * shape_.length;
    return swizzled_tensor(
        cuda_, address, shape_.number,
        {{width, 1, 64}, {heads, width, 1}, {shape_.length, row, tokens}, {shape_.batch, sequence, 1}});
  };
  resident_->q = map(operands.q, shape_.heads, tile_.queries);
  resident_->k = map(operands.k, shape_.kv_heads, tile_.keys);
  resident_->v = map(operands.v, shape_.kv_heads, tile_.keys);
  resident_->out = map(operands.out, shape_.heads, kSm90QueriesOfWarpgroup);
  resident_->of = operands;
}

void Attention::launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter) {
  constexpr double kLog2E = 1.4426950408889634;
  AttentionShape shape = shape_;
  unsigned group = shape.heads / shape.kv_heads, causal = shape.causal ? 1 : 0;
  auto scale = static_cast<float>(kLog2E / std::sqrt(double{1} * shape.head_dim));
  if (!resident_) {
    Operands at = operands;
    void* parameters[] = {&at.q,         &at.k,        &at.v,           &at.out, &counter,
                          &shape.length, &shape.heads, &shape.kv_heads, &causal, &scale};
    return launch(stream, {tiles_of_head(), shape.heads, shape.batch}, parameters);
  }
  describe(operands);
  Resident& its = *resident_;
  abi::CUdeviceptr tickets = its.tickets.device();
  auto all = static_cast<unsigned>(tiles());
  void* parameters[] = {&its.q,        &its.k,       &its.v, &its.out, &counter, &tickets,
                        &shape.length, &shape.heads, &group, &all,     &causal,  &scale};
  launch(stream, {std::min(all, its.blocks), 1, 1}, parameters);
}

void Attention::launch(abi::CUstream stream, const std::array<unsigned, 3>& grid, void** parameters) const {
  GVB_CALL(cuda_, "launching attention", cuLaunchKernel, kernel_, grid[0], grid[1], grid[2], tile_.threads, 1, 1,
           tile_.shared_bytes, stream, parameters, nullptr);
}

}  // namespace gvb
