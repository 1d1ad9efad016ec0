// Random normal inputs for kernels, generated on the device from a seed. Never zeros: a GPU multiplies zeros faster
// (894 against 788 TFLOPS on one H200), because they take less power.
#pragma once

#include <cstdint>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct NormalFill {
  abi::CUdeviceptr pointer;
  uint64_t count;
  Number number;
  uint64_t seed;
};

// Element i is normal_value(seed, i) (bench/llm/normal_value.h) in the format. Ordered with the stream's work.
void fill_normal(DeviceSession& session, abi::CUstream stream, const NormalFill& fill);

// A part of a matrix whose rows have `stride` numbers: `columns` of each of `rows` rows.
struct NormalPart {
  abi::CUdeviceptr pointer;
  uint64_t rows, columns, stride;
  uint64_t first;  // index of the part's first element in the whole matrix
  Number number;
  uint64_t seed;
};

// The same numbers that fill_normal gives the whole matrix, written densely.
void fill_normal_part(DeviceSession& session, abi::CUstream stream, const NormalPart& part);

}  // namespace gvb
