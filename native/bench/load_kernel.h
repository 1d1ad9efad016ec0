// The kernel of a load: its grid, what it is launched with, and how many rounds make it last for a given time.
#pragma once

#include "bench/load.h"
#include "bench/load_ledger.h"

namespace gvb {

struct LoadKernel {
  LoadKernel(DeviceSession& session, const LoadRequest& request);

  const abi::CUfunction function;
  const unsigned threads;  // of a block
  const unsigned multiprocessors;
  const unsigned resident;  // blocks that run at a time
  const unsigned blocks;
};

// The arguments of one launch. The addresses of its members stay.
struct LoadArguments {
  abi::CUdeviceptr stamps, scratch, ledger, stop;
  uint32_t chunks, rounds, multiplier, expected;
  void* pointers[8] = {&stamps, &scratch, &ledger, &stop, &chunks, &rounds, &multiplier, &expected};

  LoadArguments(size_t kernel, const LoadLedger& ledger, uint64_t rounds_of_block);
  LoadArguments(const LoadArguments&) = delete;
  LoadArguments& operator=(const LoadArguments&) = delete;

  uint64_t total() const { return uint64_t{chunks} * rounds; }
};

// How single kernels are launched before a load, each waited for. Each clears the ledger.
struct LoadProbe {
  const DeviceSession& session;
  const LoadKernel& kernel;
  const LoadLedger& ledger;
  const Cuda& calls;
  abi::CUstream stream;
};

// Rounds of a block that make a kernel of kernel_ns: by the shortest of a few kernels of one wave.
uint64_t calibrated_rounds(const LoadProbe& probe, uint64_t kernel_ns);

// One block of one round.
KernelSpan shortest_kernel(const LoadProbe& probe);

}  // namespace gvb
