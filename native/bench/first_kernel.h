// The first work of a process: a kernel whose result can be compared on the host.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bench/device_session.h"

namespace gvb {

class FirstKernel {
 public:
  // Takes the kernel from the module of the base kernels, in the current context.
  FirstKernel(const Cuda& cuda, const Module& module) : cuda_(cuda), kernel_(module.function("gvb_mix")) {}

  void allocate();
  void launch();
  void read();
  bool correct() const;  // what was read

 private:
  static constexpr unsigned kWords = 1024, kSeed = 12345;

  const Cuda& cuda_;
  const abi::CUfunction kernel_;
  std::optional<DeviceMemory> words_;
  std::array<uint32_t, kWords> result_{};
};

}  // namespace gvb
