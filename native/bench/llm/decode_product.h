// A product of a decode step for few sequences, fused with the operations before and after it:
// kernels/decode_product.cuh.
#pragma once

#include "bench/llm/step_launch.h"

namespace gvb {

struct DecodeProductShape {
  unsigned m, n, k;
  bool gated;  // the weights are gate over up, and y has half as many columns: silu(gate) · up
};

class DecodeProduct {
 public:
  struct Sizes {
    unsigned sequences, hidden, mlp;
  };
  // Whether a decoder of these sizes can use it on this device.
  static bool fits(const DeviceSession& session, const Sizes& sizes);

  // `kernel` is gvb_decode_product.
  DecodeProduct(const DeviceSession& session, abi::CUfunction kernel, const DecodeProductShape& shape);

  static const char* variant() { return "mma.sync sm_90"; }
  // What a launch adds to its counter.
  uint64_t blocks() const { return blocks_; }

  struct Operands {
    // The input; 0: RMSNorm(residual + delta_scale · delta) · gain · out_scale.
    abi::CUdeviceptr x = 0;
    abi::CUdeviceptr residual = 0;  // single precision
    abi::CUdeviceptr delta = 0;     // 0: nothing is added
    abi::CUdeviceptr gain = 0;
    abi::CUdeviceptr sum = 0;         // where residual + delta_scale · delta is written; must not be residual
    abi::CUdeviceptr normalised = 0;  // where the product's input is written; 0: nowhere
    abi::CUdeviceptr weights = 0, y = 0;
    float delta_scale = 0, out_scale = 0;
  };
  // `counter`: 8 bytes on the device; every block that ran adds 1.
  void launch(const StepLaunch& launch, abi::CUstream stream, const Operands& operands, abi::CUdeviceptr counter) const;

 private:
  abi::CUfunction kernel_;
  DecodeProductShape shape_;
  unsigned stages_, blocks_;
};

}  // namespace gvb
