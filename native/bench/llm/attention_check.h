// Compares rows of attention's output with double precision.
#pragma once

#include <random>

#include "bench/llm/attention.h"

namespace gvb {

struct RowErrors {
  unsigned rows = 0;
  double worst = 0;  // the largest difference within a row, relative to its largest value; infinite: not a number
};

// Checks random rows, with inputs that are read back from the device. q, k and v were filled from `seed` and the two
// seeds after it. Throws kInvalidResult if they hold other values, which may be faster to multiply.
RowErrors sample_rows(const Cuda& cuda, const AttentionShape& shape, const Attention::Operands& operands, uint64_t seed,
                      std::mt19937_64& random);

}  // namespace gvb
