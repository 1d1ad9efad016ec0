// The functions of the CUDA driver and of NVML as tables of typed pointers, and the list that names and fills them.
#pragma once

#include <cstddef>

#include "driver/cuda_abi.h"
#include "driver/nvml_abi.h"

namespace gvb {
namespace abi {

struct CudaApi {
#define GVB_CUDA(name, base, version, parameters) CUresult(*name) parameters = nullptr;
#include "driver/cuda_functions.inc"
#undef GVB_CUDA
};

struct NvmlApi {
#define GVB_NVML(name, version, parameters) nvmlReturn_t(*name) parameters = nullptr;
#include "driver/nvml_functions.inc"
#undef GVB_NVML
  const char* (*nvmlErrorString)(nvmlReturn_t) = nullptr;
};

}  // namespace abi

using abi::CudaApi;
using abi::NvmlApi;

struct CudaFunction {
  const char* name;  // exported name: cuMemAlloc_v2
  const char* base;  // name for cuGetProcAddress: cuMemAlloc
  int version;       // CUDA version that introduced this ABI
};

inline constexpr CudaFunction kCudaFunctions[] = {
#define GVB_CUDA(name, base, version, parameters) {#name, base, version},
#include "driver/cuda_functions.inc"
#undef GVB_CUDA
};
constexpr size_t kCudaFunctionCount = sizeof(kCudaFunctions) / sizeof(kCudaFunctions[0]);

inline constexpr const char* kNvmlFunctions[] = {
#define GVB_NVML(name, version, parameters) #name,
#include "driver/nvml_functions.inc"
#undef GVB_NVML
    "nvmlErrorString",
};
constexpr size_t kNvmlFunctionCount = sizeof(kNvmlFunctions) / sizeof(kNvmlFunctions[0]);

// A table holds nothing but its pointers, in the order of the list: slot i is function i.
static_assert(sizeof(CudaApi) == kCudaFunctionCount * sizeof(void*));
static_assert(sizeof(NvmlApi) == kNvmlFunctionCount * sizeof(void*));

template <class Table>
void*& slot(Table& table, size_t index) {
  return reinterpret_cast<void**>(&table)[index];
}

template <class Table>
void* slot(const Table& table, size_t index) {
  return reinterpret_cast<void* const*>(&table)[index];
}

// Index of an exported driver name in kCudaFunctions; kCudaFunctionCount when there is none.
size_t cuda_function_index(const char* name);

}  // namespace gvb
