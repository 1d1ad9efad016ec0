// The kernel of a load: its grid, its arguments, and how many rounds make it last for a given time.
#pragma once

#include "bench/load.h"
#include "bench/load_ledger.h"

namespace gvb {

struct LoadKernel {
  LoadKernel(DeviceSession& session, const LoadRequest& request);

  const abi::CUfunction function;
  const unsigned threads;  // per block
  const unsigned multiprocessors;
  const unsigned resident;  // blocks that run at a time
  const unsigned blocks;
};

// The arguments of one launch. Its members keep their addresses.
struct LoadArguments {
  abi::CUdeviceptr stamps, scratch, ledger, stop;
  uint32_t chunks, rounds, multiplier, expected;
  void* pointers[8] = {&stamps, &scratch, &ledger, &stop, &chunks, &rounds, &multiplier, &expected};

  LoadArguments(size_t kernel, const LoadLedger& ledger, uint64_t rounds_of_block);
  LoadArguments(const LoadArguments&) = delete;
  LoadArguments& operator=(const LoadArguments&) = delete;

  uint64_t total() const { return uint64_t{chunks} * rounds; }
};

// How to launch single kernels before a load. Each launch clears the ledger and is waited for.
struct LoadProbe {
  const DeviceSession& session;
  const LoadKernel& kernel;
  const LoadLedger& ledger;
  const Cuda& calls;
  abi::CUstream stream;
};

// Rounds per block that make a kernel of kernel_ns, from the shortest of a few kernels of one wave.
uint64_t calibrated_rounds(const LoadProbe& probe, uint64_t kernel_ns);

// A kernel of one block and one round.
KernelSpan shortest_kernel(const LoadProbe& probe);

}  // namespace gvb
