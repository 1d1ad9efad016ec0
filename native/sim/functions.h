#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gvb::sim {

// Every exported function of both libraries: the setting `fail` of GVB_SIM may name any of them.
enum class Function : int {
#define GVB_CUDA(name, base, version, params) name,
#define GVB_NVML(name, version, params) name,
#define GVB_NCCL(name, params) name,
#include "driver/cuda_functions.inc"
#include "driver/nccl_functions.inc"
#include "driver/nvml_functions.inc"
#include "sim/extra_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_CUDA
#undef GVB_NVML
#undef GVB_NCCL
  kCount,
};

// From its `first`-th call in this process on, `function` returns `code`.
struct Failure {
  Function function;
  int code;
  uint64_t first;
};

const char* const* function_names();            // indexed by number
int function_by_name(const std::string& name);  // -1 when unknown
void arm_failures(const std::vector<Failure>& failures);

extern std::atomic<bool> failures_armed;
int count_call(Function function);

// The code with which this call must fail, or 0. Costs one relaxed load if no failure is configured.
inline int injected_failure(Function function) {
  return __builtin_expect(failures_armed.load(std::memory_order_relaxed), 0) ? count_call(function) : 0;
}

}  // namespace gvb::sim
