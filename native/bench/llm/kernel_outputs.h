// What kernels compute from seeded inputs, bit by bit: each repetition has inputs of its own and an output that was
// overwritten before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// Attention of a prompt (LLM-001), a linear layer of 32 tokens (LLM-003), the logits of a decoder (LLM-004), the matrix
// product and the attention of the work unit (OH-010), and sums in a fixed order.
enum class OutputKernel { kAttention, kLinearLayer, kDecoder, kProduct, kUnitAttention, kOrderedSum };

struct OutputsRequest {
  OutputKernel kernel = OutputKernel::kAttention;
  unsigned size = 0;   // of the inputs: 64, or more by as many; rows and columns grow with it
  uint64_t seed = 0;   // of all inputs
  uint64_t first = 0;  // number of the first repetition: equal numbers have equal inputs
  unsigned repetitions = 0;
};

struct Outputs {
  std::string number;  // format of the output
  uint64_t bytes = 0;  // of an output
  std::vector<std::string> digests;
};

// The session keeps the outputs until the next call.
Outputs kernel_outputs(DeviceSession& session, const OutputsRequest& request);

struct KeptOutputRequest {
  uint64_t index = 0;  // among the repetitions of the last call
};

struct KeptOutput {
  std::string bytes;  // hexadecimal
};

KeptOutput kept_output(DeviceSession& session, const KeptOutputRequest& request);

}  // namespace gvb
