// The bits of a value in each number format, rounded to nearest, ties to even. Kernels and the host share this code and
// so get the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "bench/llm/number.h"

#ifdef __CUDACC__
#define GVB_HOST_DEVICE __host__ __device__
#else
#define GVB_HOST_DEVICE
#endif

namespace gvb {

GVB_HOST_DEVICE inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

GVB_HOST_DEVICE inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Formats with a sign bit, `kExponent` bits of exponent and `kMantissa` bits of mantissa. Values above the largest
// finite one become `kOverflow`.
struct F16 {
  static constexpr unsigned kExponent = 5, kMantissa = 10;
  static constexpr uint32_t kLargest = 0x7bff, kOverflow = 0x7c00, kNan = 0x7e00;
};
struct Bf16 {
  static constexpr unsigned kExponent = 8, kMantissa = 7;
  static constexpr uint32_t kLargest = 0x7f7f, kOverflow = 0x7f80, kNan = 0x7fc0;
};
// No infinity: saturates, as cvt.rn.satfinite does.
struct E4m3 {
  static constexpr unsigned kExponent = 4, kMantissa = 3;
  static constexpr uint32_t kLargest = 0x7e, kOverflow = 0x7e, kNan = 0x7f;
};

// The difference between single precision's exponent bias and the format's.
template <class Format>
constexpr uint32_t kRebias = 128 - (1u << (Format::kExponent - 1));

GVB_HOST_DEVICE inline uint32_t shifted_to_even(uint32_t value, unsigned shift) {
  if (shift > 31) return 0;
  return (value + (1u << (shift - 1)) - 1 + (value >> shift & 1)) >> shift;
}

template <class Format>
GVB_HOST_DEVICE inline uint32_t encode(float value) {
  const uint32_t sign = bits_of(value) >> 31 << (Format::kExponent + Format::kMantissa);
  const uint32_t magnitude = bits_of(value) & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | Format::kNan;
  constexpr unsigned kDropped = 23 - Format::kMantissa;
  const uint32_t exponent = magnitude >> 23;
  uint32_t bits;
  if (exponent <= kRebias<Format> && kRebias < Format >> 0)
    bits = shifted_to_even((magnitude & 0x7fffff) | 0x800000, kDropped + 1 + kRebias<Format> - exponent);
  else
    bits = shifted_to_even(magnitude, kDropped) - (kRebias<Format> << Format::kMantissa);
  return sign | (bits > Format::kLargest ? Format::kOverflow : bits);
}

template <class Format>
GVB_HOST_DEVICE inline float decode(uint32_t bits) {
  constexpr unsigned kSign = Format::kExponent + Format::kMantissa;
  const uint32_t sign = bits >> kSign << 31;
  const uint32_t magnitude = bits & ((1u << kSign) - 1);
  const uint32_t widened = magnitude << (23 - Format::kMantissa);
  if (magnitude > Format::kOverflow) return float_of(sign | 0x7fc00000);
  if (magnitude > Format::kLargest) return float_of(sign | 0x7f800000);
  if (magnitude >> Format::kMantissa > 0 || kRebias<Format> == 0)
    return float_of(sign | (widened + (kRebias<Format> << 23)));
  // Subnormal: a multiple of the format's smallest step, which single precision can represent.
  const float step = float_of((kRebias<Format> + 1 - Format::kMantissa) << 23);
  const float value = static_cast<float>(magnitude) * step;
  return sign != 0 ? -value : value;
}

GVB_HOST_DEVICE inline void store_number(void* at, uint64_t index, float value, Number number) {
  switch (number) {
    case Number::kF16:
      static_cast<uint16_t*>(at)[index] = static_cast<uint16_t>(encode<F16>(value));
      return;
    case Number::kBf16:
      static_cast<uint16_t*>(at)[index] = static_cast<uint16_t>(encode<Bf16>(value));
      return;
    case Number::kF32:
      static_cast<float*>(at)[index] = value;
      return;
    case Number::kE4m3:
      static_cast<uint8_t*>(at)[index] = static_cast<uint8_t>(encode<E4m3>(value));
      return;
  }
}

GVB_HOST_DEVICE inline float load_number(const void* at, uint64_t index, Number number) {
  switch (number) {
    case Number::kF16:
      return decode<F16>(static_cast<const uint16_t*>(at)[index]);
    case Number::kBf16:
      return decode<Bf16>(static_cast<const uint16_t*>(at)[index]);
    case Number::kF32:
      return static_cast<const float*>(at)[index];
    case Number::kE4m3:
      return decode<E4m3>(static_cast<const uint8_t*>(at)[index]);
  }
  return 0;
}

}  // namespace gvb
