// Rows of attention's output against double precision.
#pragma once

#include <random>

#include "bench/llm/attention.h"

namespace gvb {

struct RowErrors {
  unsigned rows = 0;
  double worst = 0;  // the largest difference of a row, relative to its largest value; infinite: not a number
};

// Of rows chosen at random, from inputs that are read back from the device. q, k and v were filled from `seed`, the one
// after it and the one after that: throws kInvalidResult where they hold something else, which may be faster to
// multiply.
RowErrors sample_rows(const Cuda& cuda, const AttentionShape& shape, const Attention::Operands& operands, uint64_t seed,
                      std::mt19937_64& random);

}  // namespace gvb
