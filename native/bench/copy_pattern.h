// The data that copies between host and device carry, and checks that it arrived: word i is (i + seed) * 2654435761
// (mod 2^32), as gvb_mix writes it. Each copy begins at another word of its source, so that every word at the target
// differs from the one that the previous copy left there. This detects copies that were skipped or whose parts were
// exchanged.
#pragma once

#include <cstdint>

#include "bench/device_session.h"

namespace gvb {

class CopyPattern {
 public:
  // Extra words of a source beyond the size of a copy; successive copies begin at different ones.
  static constexpr size_t kSpareWords = size_t{16} * 1024;
  static constexpr size_t kSpareBytes = kSpareWords * sizeof(uint32_t);

  explicit CopyPattern(uint64_t seed) : seed_(static_cast<uint32_t>(seed)) {}

  uint32_t seed() const { return seed_; }

  // Fills a source.
  void fill_host(void* memory, size_t bytes) const;

  // The word of the source at which the next copy begins: its bytes are aligned to a page.
  size_t next() { return first_ = (first_ + kStepWords) % kSpareWords; }
  // The pattern that begins at word `first` of a source.
  CopyPattern from(size_t first) const { return CopyPattern(seed_ + first); }

  // Throws kInvalidResult, with the name of the copy, if a word differs from the pattern. Checks one word in every
  // `step`, starting at a changing one.
  void check_host(const void* memory, size_t bytes, const char* copy, size_t step) const;

 private:
  friend class PatternWriter;
  friend class ArrivalCheck;
  static constexpr size_t kStepWords = 1024;

  uint32_t seed_;
  size_t first_ = 0;
};

// Writes a pattern by a kernel, to any memory that the device can reach.
class PatternWriter {
 public:
  PatternWriter(const DeviceSession& session, abi::CUstream stream);

  void write(abi::CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const;

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const abi::CUfunction kernel_;
  const unsigned blocks_;
};

// Checks that a pattern arrived in the device's memory: a kernel compares all of it, after the stream's earlier work.
// Throws kInvalidResult if it did not arrive.
class ArrivalCheck {
 public:
  ArrivalCheck(DeviceSession& session, abi::CUstream stream);

  void check(abi::CUdeviceptr memory, const CopyPattern& pattern, size_t bytes, const char* copy) const;

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const abi::CUfunction kernel_;
  const unsigned blocks_;
  const DeviceMemory found_;
};

}  // namespace gvb
