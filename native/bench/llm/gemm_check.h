// Elements of a matrix product against double precision.
#pragma once

#include <cstdint>
#include <random>

#include "bench/llm/gemm.h"

namespace gvb {

struct ProductSample {
  unsigned elements = 0;
  double worst_error = 0;  // the largest difference, relative to the square root of k
  double worst_allowed =
      0;  // the largest difference, relative to what its rounding allows; not above 1 where all is right
  uint64_t checksum = 0;  // of the elements' bits, in their order
};

// Of pieces of rows at random, from inputs that are read back from the device.
ProductSample sample_product(const Cuda& cuda, const GemmShape& shape, const Gemm::Operands& operands,
                             std::mt19937_64& random);

}  // namespace gvb
