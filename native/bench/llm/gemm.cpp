#include "bench/llm/gemm.h"

#include <algorithm>
#include <string>

#include "bench/kept_modules.h"
#include "bench/llm/tensor_map.h"
#include "kernels/gemm_shape.h"

namespace gvb {

namespace {

// Code for sm_90a runs on 9.0 only.
constexpr int kHopper = 90;

struct GemmKernel {
  Number number;
  int least;  // compute capability, times ten
  const char *variant, *name, *module;
};

// Ordered by preference: the first one that the device can run is used.
const GemmKernel kKernels[] = {
    {Number::kBf16, kHopper, "wgmma sm_90a", "gvb_gemm_sm90_bf16", "gemm_sm90_bf16"},
    {Number::kF16, kHopper, "wgmma sm_90a", "gvb_gemm_sm90_f16", "gemm_sm90_f16"},
    {Number::kE4m3, kHopper, "wgmma sm_90a", "gvb_gemm_sm90_e4m3", "gemm_sm90_e4m3"},
    {Number::kBf16, 80, "mma.sync sm_80", "gvb_gemm_sm80_bf16", "gemm_sm80_bf16"},
    {Number::kF16, 80, "mma.sync sm_80", "gvb_gemm_sm80_f16", "gemm_sm80_f16"},
    {Number::kE4m3, 89, "mma.sync sm_89", "gvb_gemm_sm89_e4m3", "gemm_sm89_e4m3"},
    {Number::kF32, 75, "fma sm_75", "gvb_gemm_f32", "gemm_f32"},
};

bool runs_on(const GemmKernel& kernel, int capability) {
  return kernel.least == kHopper ? capability == kHopper : capability >= kernel.least;
}

std::string text_of(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

const GemmKernel& kernel_for(const DeviceSession& session, Number number) {
  const ComputeCapability its = compute_capability(session.cuda, session.device);
  const int capability = 10 * its.major + its.minor;
  int least = 0;
  for (const GemmKernel& kernel : kKernels) {
    if (kernel.number != number) continue;
    if (runs_on(kernel, capability)) return kernel;
    least = kernel.least;
  }
  throw Failure(FailureKind::kFunctionMissing, std::string("matrix products of ") + name_of(number) +
                                                   " need compute capability " + text_of(least) +
                                                   " or higher; this GPU has " + its.text() + ".");
}

unsigned tiles(unsigned size, unsigned tile) { return (size + tile - 1) / tile; }

// The number of persistent blocks: the fewest that need no more rounds than one block per multiprocessor would. Other
// kernels get the remaining multiprocessors, and the blocks of one round work on neighbouring tiles.
unsigned staying_blocks(const DeviceSession& session, const GemmShape& shape) {
  using namespace gemm_sm90;
  const unsigned pairs = tiles(shape.m, kBlocksOfCluster * kTileRows) * tiles(shape.n, kTileColumns);
  const unsigned turns = tiles(pairs, std::max(multiprocessors_of(session) / kBlocksOfCluster, 1u));
  return tiles(pairs, turns) * kBlocksOfCluster;
}

void check_shape(const GemmShape& shape) {
  const unsigned piece =
      shape.number == Number::kF32 ? gemm_f32::kDepth : 16 / static_cast<unsigned>(bytes_of(shape.number));
  const uint64_t largest =
      std::max({uint64_t{shape.m} * shape.k, uint64_t{shape.n} * shape.k, uint64_t{shape.m} * shape.n});
  if (shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.k % piece == 0 && shape.n % 8 == 0 && largest <= UINT32_MAX)
    return;
  throw Failure(FailureKind::kInvalidResult, "Expected a matrix product whose k is a multiple of " +
                                                 std::to_string(piece) +
                                                 " and n of 8, of fewer than 2^32 numbers a matrix, but received m " +
                                                 std::to_string(shape.m) + ", n " + std::to_string(shape.n) + ", k " +
                                                 std::to_string(shape.k) + " of " + name_of(shape.number) + ".");
}

}  // namespace

struct Gemm::Maps {
  Operands of{};
  abi::CUtensorMap a, b, c;
};

Gemm::~Gemm() = default;

Gemm::Gemm(DeviceSession& session, const GemmShape& shape) : cuda_(session.cuda), shape_(shape) {
  check_shape(shape);
  const GemmKernel& kernel = kernel_for(session, shape.number);
  variant_ = kernel.variant;
  kernel_ = kept_module(session, kernel.module).function(kernel.name);
  if (kernel.least == kHopper) {
    threads_ = gemm_sm90::kThreads;
    shared_bytes_ = gemm_sm90::kSharedBytes;
    blocks_ = staying_blocks(session, shape);
    maps_ = std::make_unique<Maps>();
  } else if (shape.number == Number::kF32) {
    threads_ = gemm_f32::kThreads;
    shared_bytes_ = gemm_f32::kSharedBytes;
    blocks_ = tiles(shape.m, gemm_f32::kTile) * tiles(shape.n, gemm_f32::kTile);
  } else {
    threads_ = gemm_sm80::kThreads;
    shared_bytes_ = gemm_sm80::kSharedBytes;
    blocks_ = tiles(shape.m, gemm_sm80::kTileRows) * tiles(shape.n, gemm_sm80::kTileColumns);
  }
  allow_shared_memory(cuda_, kernel_, shared_bytes_);
}

double Gemm::bytes() const {
  const double inputs = (double{1} * shape_.m + shape_.n) * shape_.k * static_cast<double>(bytes_of(shape_.number));
  return inputs + double{1} * shape_.m * shape_.n * static_cast<double>(bytes_of(output()));
}

void Gemm::describe(const Operands& operands) {
  using namespace gemm_sm90;
  const Operands& of = maps_->of;
  if (of.a == operands.a && of.b == operands.b && of.c == operands.c) return;
  const auto map = [&](abi::CUdeviceptr address, Number number, unsigned rows, unsigned columns, unsigned box_rows) {
    const auto row = static_cast<unsigned>(kRowBytes / bytes_of(number));
    return swizzled_tensor(cuda_, address, number, {{columns, 1, row}, {rows, columns, box_rows}});
  };
  maps_->a = map(operands.a, shape_.number, shape_.m, shape_.k, kTileRows);
  maps_->b = map(operands.b, shape_.number, shape_.n, shape_.k, kTileColumns / kBlocksOfCluster);
  maps_->c = map(operands.c, output(), shape_.m, shape_.n, kRowsOfStore);
  maps_->of = operands;
}

void Gemm::launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter) {
  GemmShape shape = shape_;
  Operands at = operands;
  void* parameters[] = {&at.a, &at.b, &at.c, &shape.m, &shape.n, &shape.k, &counter};
  if (maps_) {
    describe(operands);
    parameters[0] = &maps_->a;
    parameters[1] = &maps_->b;
    parameters[2] = &maps_->c;
  }
  GVB_CALL(cuda_, "launching a matrix product", cuLaunchKernel, kernel_, blocks_, 1, 1, threads_, 1, 1, shared_bytes_,
           stream, parameters, nullptr);
}

}  // namespace gvb
