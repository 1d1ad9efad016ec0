// y = x · Wᵀ for 1 to 64 rows of x: a linear layer of a model that decodes, whose time is that of reading W once.
// Half-precision numbers with single-precision sums.
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

// Launches of one object follow each other: they share its workspace. Equal inputs give equal bits, on every device
// that runs the same variant.
class SkinnyGemm {
 public:
  static constexpr unsigned kMostRows = 64;
  static constexpr unsigned kStepOfK = 64;

  // Loads the module of the number format once a session. Throws kFunctionMissing where the device has no kernel for
  // it.
  SkinnyGemm(DeviceSession& session, const SkinnyShape& shape);

  const char* variant() const { return variant_; }
  double flops() const;  // multiplications and additions of a launch
  double bytes() const;  // of x, W and y, each once
  // That a launch adds to the counter it is given.
  uint64_t blocks() const { return uint64_t{groups_} * splits_; }

  // Row by row, 16-byte aligned: x is m × k, weights n × k, y m × n.
  struct Operands {
    abi::CUdeviceptr x, weights, y;
  };
  // `counter`: 8 bytes on the device to which every block that ran adds 1, or 0.
  void launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter = 0) const;

 private:
  void share_k(const SkinnyVariant& variant);

  const Cuda& cuda_;
  const SkinnyShape shape_;
  const char* variant_ = "";
  abi::CUfunction kernel_ = nullptr;
  unsigned groups_ = 0;  // of rows of W
  unsigned splits_ = 1;  // of K over blocks
  unsigned shared_bytes_ = 0;
  std::optional<DeviceMemory> partial_, arrived_;
};

}  // namespace gvb
