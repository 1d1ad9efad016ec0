#pragma once

#include <string>

#include "driver/cuda_abi.h"
#include "sim/work/kernels.h"

namespace gvb::sim {

constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kRegisters = 16;  // of every thread

struct FunctionInfo {
  std::string name;
  const Kernel* kernel = nullptr;  // null: this simulation cannot run it
  abi::CUcontext context = nullptr;
  unsigned most_dynamic_shared = 48 * 1024;  // limit unless cuFuncSetAttribute raises it
  int most_threads = kMaxThreadsPerBlock;    // of a block: what .maxntid says, if the kernel has it
};

FunctionInfo* find_function(abi::CUfunction handle);
const CardSettings& card_of(const FunctionInfo& function);
int max_active_blocks(const CardSettings& card, int threads, size_t shared_bytes);  // per multiprocessor
Slots taken_by_block(const CardSettings& card, int threads, size_t shared_bytes);
// The shared memory of each block that the driver itself uses.
size_t reserved_shared_bytes(const CardSettings& card);
inline size_t most_shared_bytes(const CardSettings& card) { return static_cast<size_t>(card.shared_block_kib) * 1024; }

}  // namespace gvb::sim
