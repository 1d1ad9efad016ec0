#pragma once

#include <string>

#include "driver/cuda_abi.h"
#include "sim/kernels.h"

namespace gvb::sim {

constexpr int kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxSharedBytes = 227 * 1024;

struct FunctionInfo {
  std::string name;
  const Kernel* kernel = nullptr;  // null: this simulation cannot run it
  abi::CUcontext context = nullptr;
};

FunctionInfo* findFunction(abi::CUfunction handle);
int maxActiveBlocks(int threads, size_t sharedBytes);  // per multiprocessor

}  // namespace gvb::sim
