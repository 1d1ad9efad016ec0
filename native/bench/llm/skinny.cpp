#include "bench/llm/skinny.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "bench/kept_modules.h"
#include "bench/llm/skinny_variants.h"

namespace gvb {

namespace {

constexpr unsigned kSkinnyThreads = 256;

struct TensorKernel {
  Number number;
  unsigned tokens;
  const char* module;
  const char* name;
};
const TensorKernel kTensorKernels[] = {
    {Number::kF16, 8, "skinny_sm80_f16_8", "gvb_skinny_f16_8"},
    {Number::kF16, 16, "skinny_sm80_f16_16", "gvb_skinny_f16_16"},
    {Number::kF16, 32, "skinny_sm80_f16_32", "gvb_skinny_f16_32"},
    {Number::kF16, 64, "skinny_sm80_f16_64", "gvb_skinny_f16_64"},
    {Number::kBf16, 8, "skinny_sm80_bf16_8", "gvb_skinny_bf16_8"},
    {Number::kBf16, 16, "skinny_sm80_bf16_16", "gvb_skinny_bf16_16"},
    {Number::kBf16, 32, "skinny_sm80_bf16_32", "gvb_skinny_bf16_32"},
    {Number::kBf16, 64, "skinny_sm80_bf16_64", "gvb_skinny_bf16_64"},
};

void check_shape(const SkinnyShape& shape) {
  const bool known = shape.number == Number::kF16 || shape.number == Number::kBf16;
  if (known && shape.m >= 1 && shape.m <= SkinnyGemm::kMostRows && shape.n >= 1 && shape.k >= SkinnyGemm::kStepOfK &&
      shape.k % SkinnyGemm::kStepOfK == 0)
    return;
  throw Failure(FailureKind::kInvalidResult,
                std::string("Expected a skinny product of fp16 or bf16 with 1 to 64 rows and K a multiple of 64, but "
                            "received ") +
                    name_of(shape.number) + ", m " + std::to_string(shape.m) + ", n " + std::to_string(shape.n) +
                    ", k " + std::to_string(shape.k) + ".");
}

abi::CUfunction tensor_kernel(DeviceSession& session, Number number, const SkinnyVariant& variant) {
  const auto* kernel =
      std::find_if(std::begin(kTensorKernels), std::end(kTensorKernels),
                   [&](const TensorKernel& each) { return each.number == number && each.tokens == variant.tokens; });
  return kept_module(session, kernel->module).function(kernel->name);
}

abi::CUfunction plain_kernel(DeviceSession& session, Number number) {
  const char* name = number == Number::kF16 ? "gvb_skinny_fma_f16" : "gvb_skinny_fma_bf16";
  return kept_module(session, "skinny").function(name);
}

const SkinnyVariant& tensor_variant(unsigned m) {
  const SkinnyVariant* variant = std::begin(kSkinnyTensorVariants);
  while (variant->tokens < m) ++variant;
  return *variant;
}

}  // namespace

SkinnyGemm::SkinnyGemm(DeviceSession& session, const SkinnyShape& shape) : cuda_(session.cuda), shape_(shape) {
  check_shape(shape);
  const auto major = device_attribute(cuda_, session.device, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const bool tensor = major.value_or(0) >= 8;
  const SkinnyVariant& variant = tensor ? tensor_variant(shape.m) : kSkinnyPlainVariant;
  variant_ = tensor ? "mma.sync sm_80" : "fma sm_75";
  shared_bytes_ = variant.shared_bytes;
  groups_ = (shape.n + variant.rows - 1) / variant.rows;
  kernel_ = tensor ? tensor_kernel(session, shape.number, variant) : plain_kernel(session, shape.number);
  if (tensor) share_k(variant);
}

// Depends only on the shape, not on what a layer reports about the card, so that the order of sums is the same
// everywhere.
void SkinnyGemm::share_k(const SkinnyVariant& variant) {
  splits_ = std::clamp(variant.blocks / groups_, 1u, std::max(1u, shape_.k / variant.least_k));
  if (splits_ == 1) return;
  const size_t sums = size_t{groups_} * variant.rows * shape_.m * splits_;
  partial_.emplace(make_memory(cuda_, sums * sizeof(float)));
  arrived_.emplace(make_memory(cuda_, groups_ * sizeof(uint32_t)));
  GVB_CALL(cuda_, "clearing the workspace of a skinny product", cuMemsetD32_v2, arrived_->get(), 0, groups_);
  // Launches use streams that do not wait for the default stream.
  GVB_CALL(cuda_, "clearing the workspace of a skinny product", cuCtxSynchronize);
}

double SkinnyGemm::flops() const { return 2.0 * shape_.m * shape_.n * shape_.k; }

double SkinnyGemm::bytes() const {
  const double elements = 1.0 * shape_.n * shape_.k + 1.0 * shape_.m * shape_.k + 1.0 * shape_.m * shape_.n;
  return elements * static_cast<double>(bytes_of(shape_.number));
}

void SkinnyGemm::launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter) const {
  abi::CUdeviceptr x = operands.x, weights = operands.weights, y = operands.y, partial = partial_ ? partial_->get() : 0,
                   arrived = arrived_ ? arrived_->get() : 0;
  SkinnyShape shape = shape_;
  void* parameters[] = {&x, &weights, &y, &partial, &arrived, &counter, &shape.m, &shape.n, &shape.k};
  GVB_CALL(cuda_, "launching a skinny product", cuLaunchKernel, kernel_, groups_, splits_, 1, kSkinnyThreads, 1, 1,
           shared_bytes_, stream, parameters, nullptr);
}

}  // namespace gvb
