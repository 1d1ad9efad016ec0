// Mapped memory in many places that a measurement uses in turn. How long a host takes to see what the device wrote
// depends on the cache line that it reads: using one line gives an error that is constant within a process and differs
// between processes (on an H200 the clock mapping's was 0.07 to 0.10 us; 0.05 with changing places).
#pragma once

#include "bench/guards.h"

namespace gvb {

class MappedPlaces {
 public:
  // `bytes` is the size of each place.
  MappedPlaces(const Cuda& cuda, size_t bytes) : bytes_(bytes), memory_(cuda, kPlaces * bytes) {}

  void move() { place_ = (place_ + kStride) % kPlaces; }

  template <class T>
  T load(size_t offset = 0) const {
    return memory_.load<T>(base() + offset);
  }
  template <class T>
  void store(T value, size_t offset = 0) const {
    memory_.store<T>(value, base() + offset);
  }
  abi::CUdeviceptr device(size_t offset = 0) const { return memory_.device(base() + offset); }

 private:
  static constexpr size_t kPlaces = 128;
  // Coprime with the number of places, so that all are used; neighbours in time are far apart.
  static constexpr size_t kStride = 37;

  size_t base() const { return place_ * bytes_; }

  const size_t bytes_;
  const MappedMemory memory_;
  size_t place_ = 0;
};

}  // namespace gvb
