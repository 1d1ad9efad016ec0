// C = A · Bᵀ: A is m × k, B is n × k like the weights of a linear layer, C is m × n, all in row-major order. Sums are
// in single precision; C has the number format of A and B, except that it is bf16 if those are e4m3.
#pragma once

#include <memory>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct GemmShape {
  Number number;
  unsigned m, n, k;
};

class Gemm {
 public:
  // Loads the module of the number once per session. Throws kFunctionMissing if the device has no kernel for it, and
  // kInvalidResult if k is not a multiple of 16 bytes, in single precision of 8 numbers, or n not of 8.
  Gemm(DeviceSession& session, const GemmShape& shape);
  ~Gemm();

  const char* variant() const { return variant_; }
  Number output() const { return shape_.number == Number::kE4m3 ? Number::kBf16 : shape_.number; }
  // Multiplications and additions per launch.
  double flops() const { return 2.0 * shape_.m * shape_.n * shape_.k; }
  // Bytes of A, B and C, each counted once.
  double bytes() const;
  // What a launch adds to its counter.
  uint64_t blocks() const { return blocks_; }

  // On the device, 16-byte aligned.
  struct Operands {
    abi::CUdeviceptr a, b, c;
  };
  // `counter`: 8 bytes on the device; every block that ran adds 1. 0: not counted.
  void launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter = 0);

 private:
  struct Maps;  // of the operands, for TMA

  void describe(const Operands& operands);

  const Cuda& cuda_;
  const GemmShape shape_;
  const char* variant_ = "";
  abi::CUfunction kernel_ = nullptr;
  unsigned threads_ = 0, shared_bytes_ = 0, blocks_ = 0;
  std::unique_ptr<Maps> maps_;  // null if the kernel takes addresses
};

}  // namespace gvb
