// The number formats of matrices and attention inputs.
#pragma once

#include <cstddef>

namespace gvb {

enum class Number { kF16, kBf16, kF32, kE4m3 };

constexpr size_t bytes_of(Number number) { return number == Number::kF32 ? 4 : number == Number::kE4m3 ? 1 : 2; }

constexpr const char* name_of(Number number) {
  switch (number) {
    case Number::kF16:
      return "fp16";
    case Number::kBf16:
      return "bf16";
    case Number::kF32:
      return "fp32";
    case Number::kE4m3:
      return "fp8 e4m3";
  }
  return "";
}

}  // namespace gvb
