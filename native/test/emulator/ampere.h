// Host versions of the functions in native/kernels/ampere.cuh, after the fragment layouts of the PTX ISA.
#pragma once

#include "bench/llm/number_bits.h"
#include "test/emulator/cuda.h"

#define GVB_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(dynamic_shared())
inline unsigned char* dynamic_shared() { return gvb::emulator::block().shared().data(); }

inline uint32_t shared_address(const void* pointer) { return gvb::emulator::shared_address(pointer); }

inline void store_shared(uint32_t to, uint32_t value) {
  std::memcpy(gvb::emulator::shared_memory(to, 4, 4), &value, sizeof value);
}

inline uint4 load_shared_16(uint32_t from) {
  uint4 value;
  std::memcpy(&value, gvb::emulator::shared_memory(from, 16, 16), sizeof value);
  return value;
}

inline uint4 load_once_16(const uint4* from) {
  if (reinterpret_cast<uintptr_t>(from) % 16 != 0) gvb::emulator::fail("ld.v4: a misaligned address of global memory");
  return *from;
}

inline uint4 load_current_once_16(const uint4* from) { return load_once_16(from); }

inline unsigned add_ordered(unsigned* number, unsigned value) { return atomicAdd(number, value); }

// Reads a byte of it, so that the address sanitizer checks the address.
inline void prefetch_line(const void* line) { static_cast<void>(*static_cast<const volatile unsigned char*>(line)); }

// Done now, or at the latest in the wait for it.
inline void copy_async_16(uint32_t to, const void* from, bool valid) {
  using namespace gvb::emulator;
  unsigned char* target = shared_memory(to, 16, 16);
  if (reinterpret_cast<uintptr_t>(from) % 16 != 0) fail("cp.async: a misaligned address of global memory");
  const Work copy = [=] {
    if (valid)
      std::memcpy(target, from, 16);
    else
      std::memset(target, 0, 16);
  };
  auto& groups = current().copies;
  if (groups.empty()) groups.emplace_back();
  if (cluster().chance(2))
    copy();
  else
    groups.back().push_back(copy);
}

// Grids run one after the other.
inline void begin_next_grid() {}
inline void wait_for_previous_grid() {}

inline void commit_copies() {
  auto& groups = gvb::emulator::current().copies;
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}

template <unsigned kPending>
void wait_copies() {
  auto& groups = gvb::emulator::current().copies;
  while (groups.size() > kPending + 1) {
    for (const auto& copy : groups.front()) copy();
    groups.pop_front();
  }
}

namespace gvb::emulator {

struct MatrixLane {
  const unsigned char* row;
  uint32_t values[4];
};

// Lane i receives values 2·(i mod 4) and the next one of row i / 4 of each matrix; if transposed, of column i / 4.
inline void load_four(uint32_t (&to)[4], uint32_t row, bool transposed, const char* what) {
  MatrixLane mine = {shared_memory(row, 16, 16), {}};
  together(
      kWarp, mine,
      [transposed](MatrixLane* const* lanes) {
        for (unsigned lane = 0; lane < kWarp; ++lane)
          for (unsigned matrix = 0; matrix < 4; ++matrix) {
            uint16_t pair[2];
            for (unsigned i = 0; i < 2; ++i) {
              unsigned r = lane / 4, c = lane % 4 * 2 + i;
              if (transposed) std::swap(r, c);
              std::memcpy(&pair[i], lanes[matrix * 8 + r]->row + c * 2, 2);
            }
            lanes[lane]->values[matrix] = pair[0] | uint32_t{pair[1]} << 16;
          }
      },
      what);
  std::copy(mine.values, mine.values + 4, to);
}

template <class Format>
float half_of(uint32_t packed, unsigned which) {
  return decode<Format>(packed >> (16 * which) & 0xffff);
}

struct MultiplyLane {
  float* d;
  const uint32_t* a;
  uint32_t b[2];
};

// PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type", and for mma.m16n8k32: lane i holds rows i / 4
// and i / 4 + 8 of A and C, column i / 4 of B, and four bytes of K per register.
template <class Format>
void multiply_fragments(MultiplyLane* const* lanes) {
  constexpr unsigned kBits = 1 + Format::kExponent + Format::kMantissa, kPacked = 32 / kBits, kDepth = 8 * kPacked;
  const auto value = [](uint32_t packed, unsigned i) {
    return decode<Format>(packed >> (kBits * i) & ((uint64_t{1} << kBits) - 1));
  };
  float a[16][kDepth], b[kDepth][8];
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned i = 0; i < kPacked; ++i)
      for (unsigned which = 0; which < 4; ++which) {
        const unsigned outer = lane / 4, inner = lane % 4 * kPacked + i;
        a[outer + which % 2 * 8][inner + which / 2 * kDepth / 2] = value(lanes[lane]->a[which], i);
        if (which < 2) b[inner + which * kDepth / 2][outer] = value(lanes[lane]->b[which], i);
      }
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned m = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
      float sum = 0;
      for (unsigned k = 0; k < kDepth; ++k) sum += a[m][k] * b[k][n];
      lanes[lane]->d[i] += sum;
    }
}

}  // namespace gvb::emulator

inline void load_matrices(uint32_t (&to)[4], uint32_t row) { gvb::emulator::load_four(to, row, false, "ldmatrix"); }

inline void load_matrices_transposed(uint32_t (&to)[4], uint32_t row) {
  gvb::emulator::load_four(to, row, true, "ldmatrix.trans");
}

template <class Format>
void multiply_add(float* d, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  gvb::emulator::MultiplyLane mine = {d, a, {b0, b1}};
  gvb::emulator::together(gvb::emulator::kWarp, mine, gvb::emulator::multiply_fragments<Format>, "mma.sync");
}

template <class Format>
uint32_t pack(float low, float high) {
  return gvb::encode<Format>(low) | gvb::encode<Format>(high) << 16;
}

template <class Format>
float2 unpack(uint32_t packed) {
  return {gvb::emulator::half_of<Format>(packed, 0), gvb::emulator::half_of<Format>(packed, 1)};
}

inline float power_of_two(float x) { return std::exp2(x); }

inline void sync_barrier(unsigned id, unsigned threads) { gvb::emulator::arrive_and_wait(id, threads); }
inline void arrive_barrier(unsigned id, unsigned threads) { gvb::emulator::arrive(id, threads); }
