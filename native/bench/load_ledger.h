// What the kernels of a load write: work by bin in device memory, and each kernel's begin and end in host memory.
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
  std::vector<uint64_t> bins;  // the last one holds what came after all others
};

class LoadLedger {
 public:
  // For so many kernels that are not over at one time.
  LoadLedger(size_t kernels, const Cuda& cuda, uint64_t bins);

  // Before any launch; no kernel runs.
  void open(uint64_t first_bin, uint64_t bin_ns) const;
  LedgerContents read() const;

  void clear(size_t kernel) const;
  // After its launch is over. Both 0 where it did not run.
  KernelSpan span(size_t kernel) const;
  // The same, but throws kInvalidResult where it did not run.
  KernelSpan ran(size_t kernel) const;
  bool over(size_t kernel) const { return span(kernel).ended != 0; }

  // Kernels end as soon as they can.
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
