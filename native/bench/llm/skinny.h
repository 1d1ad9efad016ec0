// y = x · Wᵀ for 1 to 64 rows of x: a linear layer of a decoding model, bound by reading W once. Half-precision numbers
// with single-precision sums.
#pragma once

#include <optional>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct SkinnyVariant;

struct SkinnyShape {
  Number number;  // kF16 or kBf16, of x, W and y
  unsigned m;     // rows of x and y, 1 to SkinnyGemm::kMostRows
  unsigned n;     // rows of W, columns of y
  unsigned k;     // columns of x and W, a multiple of SkinnyGemm::kStepOfK
};

// Launches of one object must follow each other: they share its workspace. Equal inputs give equal bits on every device
// that runs the same variant.
class SkinnyGemm {
 public:
  static constexpr unsigned kMostRows = 64;
  static constexpr unsigned kStepOfK = 64;

  // Loads the module of the number format once per session. Throws kFunctionMissing if the device has no kernel for it.
  SkinnyGemm(DeviceSession& session, const SkinnyShape& shape);

  const char* variant() const { return variant_; }
  double flops() const;  // multiplications and additions per launch
  double bytes() const;  // x, W and y, each counted once
  // What a launch adds to its counter.
  uint64_t blocks() const { return uint64_t{groups_} * splits_; }

  // Row-major and 16-byte aligned: x is m × k, weights n × k, y m × n.
  struct Operands {
    abi::CUdeviceptr x, weights, y;
  };
  // `counter`: 8 bytes on the device; every block that ran adds 1. 0: not counted.
  void launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter = 0) const;

 private:
  void share_k(const SkinnyVariant& variant);

  const Cuda& cuda_;
  const SkinnyShape shape_;
  const char* variant_ = "";
  abi::CUfunction kernel_ = nullptr;
  unsigned groups_ = 0;  // groups of rows of W
  unsigned splits_ = 1;  // parts of K over blocks
  unsigned shared_bytes_ = 0;
  std::optional<DeviceMemory> partial_, arrived_;
};

}  // namespace gvb
