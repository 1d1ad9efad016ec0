// The parts of CUDA C++ that the kernels use, for compiling a .cu as host code. Include it, then the .cu; launch with
// emulator::run. `static` replaces __shared__, which is correct because only one block runs at a time; kernels that run
// in clusters, or whose bounds the sanitizer shall check, use dynamic_shared() of ampere.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "test/emulator/grid.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict

#define threadIdx (::gvb::emulator::current().index)
#define blockIdx (::gvb::emulator::block().index)
#define blockDim (::gvb::emulator::cluster().launch.block)
#define gridDim (::gvb::emulator::cluster().launch.grid)

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

inline void __syncthreads() {
  gvb::emulator::arrive_and_wait(0, static_cast<unsigned>(gvb::emulator::block().threads.size()));
}

inline void __syncwarp(unsigned = ~0u) {
  int nothing = 0;
  gvb::emulator::together(
      gvb::emulator::kWarp, nothing, [](int* const*) {}, "__syncwarp");
}

namespace gvb::emulator {

// Each lane receives the value of lane source(lane), or its own if that lies outside its segment of `width` lanes.
template <class T, class Source>
T shuffle(T value, unsigned width, const Source& source, const char* what) {
  struct Lane {
    T value, received;
    unsigned from;
  };
  const unsigned lane = current().lane();
  const unsigned from = source(lane);
  Lane mine = {value, value, from / width == lane / width && from < kWarp ? from : lane};
  together(
      kWarp, mine,
      [](Lane* const* lanes) {
        for (unsigned i = 0; i < kWarp; ++i) lanes[i]->received = lanes[lanes[i]->from]->value;
      },
      what);
  return mine.received;
}

inline unsigned ballot(bool predicate) {
  struct Lane {
    bool predicate;
    unsigned votes;
  } mine = {predicate, 0};
  together(
      kWarp, mine,
      [](Lane* const* lanes) {
        unsigned votes = 0;
        for (unsigned i = 0; i < kWarp; ++i) votes |= static_cast<unsigned>(lanes[i]->predicate) << i;
        for (unsigned i = 0; i < kWarp; ++i) lanes[i]->votes = votes;
      },
      "a vote");
  return mine.votes;
}

}  // namespace gvb::emulator

template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned mask, unsigned width = 32) {
  return gvb::emulator::shuffle(
      value, width, [=](unsigned lane) { return lane ^ mask; }, "__shfl_xor_sync");
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned delta, unsigned width = 32) {
  return gvb::emulator::shuffle(
      value, width, [=](unsigned lane) { return lane + delta; }, "__shfl_down_sync");
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned delta, unsigned width = 32) {
  return gvb::emulator::shuffle(
      value, width, [=](unsigned lane) { return lane - delta; }, "__shfl_up_sync");
}
template <class T>
T __shfl_sync(unsigned, T value, unsigned from, unsigned width = 32) {
  return gvb::emulator::shuffle(
      value, width, [=](unsigned lane) { return lane / width * width + from % width; }, "__shfl_sync");
}
inline unsigned __ballot_sync(unsigned, bool predicate) { return gvb::emulator::ballot(predicate); }
inline bool __any_sync(unsigned, bool predicate) { return gvb::emulator::ballot(predicate) != 0; }
inline bool __all_sync(unsigned, bool predicate) { return gvb::emulator::ballot(predicate) == ~0u; }

// All fibres run in one host thread, so nothing runs in between.
template <class T>
T atomicAdd(T* place, T value) {
  const T before = *place;
  *place = before + value;
  return before;
}
template <class T>
T atomicExch(T* place, T value) {
  const T before = *place;
  *place = value;
  return before;
}
template <class T>
T atomicMax(T* place, T value) {
  const T before = *place;
  *place = std::max(before, value);
  return before;
}
inline void __threadfence() {}
inline void __threadfence_system() {}

template <class T>
T __ldg(const T* place) {
  return *place;
}
template <class T>
T __ldcg(const T* place) {
  return *place;
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline unsigned __float_as_uint(float x) {
  unsigned bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
template <class T>
T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}
