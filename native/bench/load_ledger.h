// What the kernels of a load write: work per bin in device memory, and each kernel's start and end in host memory.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/guards.h"
#include "bench/load_work.h"

namespace gvb {

struct KernelSpan {
  uint64_t began;
  uint64_t ended;
};

struct LedgerContents {
  LedgerHead head;
  std::vector<uint64_t> bins;  // the last one holds all later work
};

class LoadLedger {
 public:
  // `kernels`: the largest number that may be unfinished at a time.
  LoadLedger(size_t kernels, const Cuda& cuda, uint64_t bins);

  // Call before any launch, while no kernel runs.
  void open(uint64_t first_bin, uint64_t bin_ns) const;
  LedgerContents read() const;

  void clear(size_t kernel) const;
  // Call once its launch is over. Both are 0 if it did not run.
  KernelSpan span(size_t kernel) const;
  // Like span, but throws kInvalidResult if it did not run.
  KernelSpan ran(size_t kernel) const;
  bool over(size_t kernel) const { return span(kernel).ended != 0; }

  // Asks the kernels to end as soon as they can.
  void stop() const { host_.store<uint32_t>(1); }

  abi::CUdeviceptr device() const { return memory_.get(); }
  abi::CUdeviceptr scratch(size_t kernel) const { return scratch_.get() + kernel * sizeof(KernelSpan); }
  abi::CUdeviceptr stamps(size_t kernel) const { return host_.device(stamps_at(kernel)); }
  abi::CUdeviceptr stop_word() const { return host_.device(); }

 private:
  static size_t stamps_at(size_t kernel) { return 64 + kernel * sizeof(KernelSpan); }

  const Cuda& cuda_;
  const size_t kernels_;
  const uint64_t bins_;
  const DeviceMemory memory_, scratch_;
  const MappedMemory host_;
};

}  // namespace gvb
