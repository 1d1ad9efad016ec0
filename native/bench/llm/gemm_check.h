// Compares elements of a matrix product with double precision.
#pragma once

#include <cstdint>
#include <random>

#include "bench/llm/gemm.h"

namespace gvb {

struct ProductSample {
  unsigned elements = 0;
  double worst_error = 0;  // the largest difference, relative to the square root of k
  // The largest difference, relative to the allowed rounding error: at most 1 if all elements are right.
  double worst_allowed = 0;
  uint64_t checksum = 0;  // of the elements' bits, in order
};

// Checks random pieces of rows, with inputs that are read back from the device.
ProductSample sample_product(const Cuda& cuda, const GemmShape& shape, const Gemm::Operands& operands,
                             std::mt19937_64& random);

}  // namespace gvb
