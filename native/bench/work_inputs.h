// Inputs and expected results of units of work (OH-010). Every unit uses another window of a pool of random inputs, so
// that results left from an earlier unit do not pass; no input is rewritten for it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "bench/guards.h"

namespace gvb {

// C = A·B of half-precision matrices of small integers, so that every sum is exact in single precision: A(i,k) =
// x(i)·s(k) and B(k,j) = s(k)·y(k / 64, j) with s(k) = ±1 of period 64, so C(i,j) = 64·x(i)·Σ y(b, j) over the 32 bands
// of B. A unit's A begins at any row of the pool, its B at any band.
class Factors {
 public:
  static constexpr unsigned kSide = 2048;
  static constexpr size_t kMatrix = size_t{kSide} * kSide;
  static constexpr size_t kBytes = kMatrix * 2;  // per factor

  Factors(const Cuda& cuda, std::mt19937_64& random);

  struct Window {
    unsigned row, band;
  };
  // A window that differs from `before`.
  Window other_than(Window before, std::mt19937_64& random) const;

  const void* a(Window window) const { return rows(a_, window.row); }
  const void* b(Window window) const { return rows(b_, window.band * kBand); }
  float product(Window window, unsigned i, unsigned j) const {
    return static_cast<float>(static_cast<int>(kBand) * x_[window.row + i] * sums_[window.band * size_t{kSide} + j]);
  }

 private:
  static constexpr unsigned kBand = 64, kBands = kSide / kBand;
  static constexpr unsigned kSpareRows = 256, kSpareBands = 16;

  static const void* rows(const MappedMemory& pool, unsigned row) {
    return static_cast<const uint16_t*>(pool.host()) + size_t{row} * kSide;
  }

  const MappedMemory a_, b_;
  std::vector<int> x_;     // by row of the pool of A
  std::vector<int> sums_;  // by first band and column
};

// softmax(Q·Kᵀ / 8)·V of random heads: the weights and values of the 128 tokens differ, so that a wrong product or
// softmax shows. A unit uses 8 consecutive heads of the pool.
class AttentionInputs {
 public:
  static constexpr unsigned kHeads = 8, kTokens = 128, kWidth = 64;
  static constexpr size_t kHead = size_t{kTokens} * kWidth;
  static constexpr size_t kBytes = kHeads * kHead * sizeof(float);

  AttentionInputs(const Cuda& cuda, std::mt19937_64& random);

  unsigned other_than(unsigned before, std::mt19937_64& random) const;

  abi::CUdeviceptr queries(unsigned head) const { return at(queries_, head); }
  abi::CUdeviceptr keys(unsigned head) const { return at(keys_, head); }
  abi::CUdeviceptr values(unsigned head) const { return at(values_, head); }
  float result(unsigned head, size_t index) const { return results_[head * kHead + index]; }

 private:
  static constexpr unsigned kPool = 24;

  struct Heads {
    explicit Heads(std::mt19937_64& random);
    const std::vector<float> queries, keys, values;
  };
  AttentionInputs(const Cuda& cuda, const Heads& heads);

  static abi::CUdeviceptr at(const DeviceMemory& pool, unsigned head) {
    return pool.get() + head * kHead * sizeof(float);
  }

  const DeviceMemory queries_, keys_, values_;
  std::vector<float> results_;
};

}  // namespace gvb
