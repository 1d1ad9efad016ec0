#pragma once

#include <string>

#include "driver/cuda_abi.h"
#include "sim/work/kernels.h"

namespace gvb::sim {

constexpr int kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxSharedBytes = 227 * 1024;

struct FunctionInfo {
  std::string name;
  const Kernel* kernel = nullptr;  // null: this simulation cannot run it
  abi::CUcontext context = nullptr;
  unsigned most_dynamic_shared = 48 * 1024;  // limit unless cuFuncSetAttribute raises it
};

FunctionInfo* find_function(abi::CUfunction handle);
int max_active_blocks(int threads, size_t shared_bytes);  // per multiprocessor

}  // namespace gvb::sim
