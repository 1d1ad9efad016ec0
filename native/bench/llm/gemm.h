// C = A · Bᵀ: A is m × k, B is n × k as the weights of a linear layer are, C is m × n, all row by row. Sums are in
// single precision; C has the numbers of A and B, except that it is bf16 where those are e4m3.
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
  // Loads the module of the number once a session. Throws kFunctionMissing where the device has no kernel for it, and
  // kInvalidResult where rows are no multiples of 16 bytes.
  Gemm(DeviceSession& session, const GemmShape& shape);
  ~Gemm();

  const char* variant() const { return variant_; }
  Number output() const { return shape_.number == Number::kE4m3 ? Number::kBf16 : shape_.number; }
  // Multiplications and additions of a launch.
  double flops() const { return 2.0 * shape_.m * shape_.n * shape_.k; }
  // Of A, B and C, each once.
  double bytes() const;
  // That a launch adds to the counter it is given.
  uint64_t blocks() const { return blocks_; }

  // On the device, 16-byte aligned.
  struct Operands {
    abi::CUdeviceptr a, b, c;
  };
  // `counter`: 8 bytes on the device to which every block that ran adds 1, or 0.
  void launch(abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter = 0);

 private:
  struct Maps;  // of the operands, for TMA

  void describe(const Operands& operands);

  const Cuda& cuda_;
  const GemmShape shape_;
  const char* variant_ = "";
  abi::CUfunction kernel_ = nullptr;
  unsigned threads_ = 0, shared_bytes_ = 0, blocks_ = 0;
  std::unique_ptr<Maps> maps_;  // null where the kernel takes addresses
};

}  // namespace gvb
