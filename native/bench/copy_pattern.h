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

// How many words a kernel found that are right, and that are not.
class WordCount {
 public:
  WordCount(const DeviceSession& session, abi::CUstream stream);

  // What the kernel gets: two counters.
  abi::CUdeviceptr device() const { return found_.get(); }
  // On the stream, around what `launch` puts there.
  void clear() const;
  // Words out of `count` that were not found to be right; waits for the stream.
  uint64_t wrong_of(uint64_t count) const;
  template <class Launch>
  uint64_t wrong_of(uint64_t count, const Launch& launch) const {
    clear();
    launch();
    return wrong_of(count);
  }

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const DeviceMemory found_;
};

// Whether a pattern arrived in the device's memory: a kernel looks at all of it, behind what the stream does.
class ArrivalCheck {
 public:
  ArrivalCheck(DeviceSession& session, abi::CUstream stream);

  // Throws kInvalidResult where it did not.
  void check(abi::CUdeviceptr memory, const CopyPattern& pattern, size_t bytes, const char* copy) const;
  uint64_t wrong_words(abi::CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const;

  // In parts, for those who time the kernel.
  void clear() const { found_.clear(); }
  void launch(abi::CUdeviceptr memory, const CopyPattern& pattern, size_t bytes) const;
  uint64_t wrong_of(size_t bytes) const { return found_.wrong_of(bytes / sizeof(uint32_t)); }

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const abi::CUfunction kernel_;
  const unsigned blocks_;
  const WordCount found_;
};

// Throws kInvalidResult; `copy` is what brought the words.
[[noreturn]] void fail_not_copied(const char* copy, uint64_t wrong, uint64_t looked_at);

}  // namespace gvb
