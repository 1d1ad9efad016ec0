// Fills memory with random inputs (bench/llm/normal.h). Names are extern "C": the simulated driver executes them by
// name.

#include "bench/llm/normal_value.h"

extern "C" __global__ void __launch_bounds__(256)
    gvb_normal(void* out, unsigned long long count, unsigned long long seed, unsigned number) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    gvb::store_number(out, i, gvb::normal_value(seed, i), static_cast<gvb::Number>(number));
}

// Writes `columns` of each of `rows` rows, densely. Element (row, column) is number `first` + row · stride + column of
// the sequence.
extern "C" __global__ void __launch_bounds__(256)
    gvb_normal_part(void* out, unsigned long long rows, unsigned long long columns, unsigned long long stride,
                    unsigned long long first, unsigned long long seed, unsigned number) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, count = rows * columns;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    gvb::store_number(out, i, gvb::normal_value(seed, first + i / columns * stride + i % columns),
                      static_cast<gvb::Number>(number));
}
