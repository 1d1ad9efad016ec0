#include "bench/llm/gemm_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bench/llm/number_bits.h"

namespace gvb {

namespace {

constexpr unsigned kPieces = 16, kElementsOfPiece = 16;
constexpr uint64_t kFnvOffset = 0xcbf29ce484222325u, kFnvPrime = 0x100000001b3u;

// How far an element may be off: its own rounding, plus the sums' rounding as a fraction of the sum of all magnitudes.
// Tensor cores align the products of a step before they add them; for 8-bit numbers Hopper keeps 13 bits in that
// (DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2).
struct Tolerance {
  double of_value, of_magnitudes;
};

Tolerance tolerance_of(Number number) {
  switch (number) {
    case Number::kF32:
      return {0, 0x1p-18};
    case Number::kF16:
      return {0x1p-11, 0x1p-16};
    case Number::kBf16:
      return {0x1p-8, 0x1p-16};
    case Number::kE4m3:
      return {0x1p-8, 0x1p-9};
  }
  return {0, 0};
}

using Bytes = std::vector<unsigned char>;

Bytes read(const Cuda& cuda, abi::CUdeviceptr from, size_t bytes) {
  Bytes values(bytes);
  GVB_CALL(cuda, "reading a part of a matrix", cuMemcpyDtoH_v2, values.data(), from, bytes);
  return values;
}

// Elements `column` to `column` + kElementsOfPiece of a row.
struct Piece {
  unsigned row, column;
};

void compare(const GemmShape& shape, const Bytes& a, const Bytes& b, const Bytes& c, ProductSample& sample) {
  const Number output = shape.number == Number::kE4m3 ? Number::kBf16 : shape.number;
  const Tolerance tolerance = tolerance_of(shape.number);
  for (size_t j = 0; j < kElementsOfPiece; ++j) {
    double sum = 0, magnitudes = 0;
    for (size_t k = 0; k < shape.k; ++k) {
      const double product =
          double{load_number(a.data(), k, shape.number)} * double{load_number(b.data(), j * shape.k + k, shape.number)};
      sum += product;
      magnitudes += std::abs(product);
    }
    const double error = std::abs(double{load_number(c.data(), j, output)} - sum);
    const double allowed = tolerance.of_value * std::abs(sum) + tolerance.of_magnitudes * magnitudes;
    const bool number = std::isfinite(error);
    sample.worst_error = std::max(sample.worst_error, number ? error / std::sqrt(shape.k) : HUGE_VAL);
    sample.worst_allowed = std::max(sample.worst_allowed, number ? error / allowed : HUGE_VAL);
    ++sample.elements;
  }
  for (const unsigned char byte : c) sample.checksum = (sample.checksum ^ byte) * kFnvPrime;
}

}  // namespace

ProductSample sample_product(const Cuda& cuda, const GemmShape& shape, const Gemm::Operands& operands,
                             std::mt19937_64& random) {
  const size_t input = bytes_of(shape.number), output = shape.number == Number::kE4m3 ? 2 : input;
  const size_t row = shape.k * input;
  ProductSample sample;
  sample.checksum = kFnvOffset;
  for (unsigned i = 0; i < kPieces; ++i) {
    const Piece piece = {static_cast<unsigned>(random() % shape.m),
                         static_cast<unsigned>(random() % (shape.n / kElementsOfPiece)) * kElementsOfPiece};
    const Bytes a = read(cuda, operands.a + piece.row * row, row);
    const Bytes b = read(cuda, operands.b + piece.column * row, kElementsOfPiece * row);
    const Bytes c =
        read(cuda, operands.c + (size_t{piece.row} * shape.n + piece.column) * output, kElementsOfPiece * output);
    compare(shape, a, b, c, sample);
  }
  return sample;
}

}  // namespace gvb
