#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gvb::sim {

// Every exported function of both libraries: GVB_SIM's `fail` may name any of them, and both libraries read it.
enum class Function : int {
#define GVB_CUDA(name, base, version, params) name,
#define GVB_NVML(name, params) name,
#include "driver/cuda_functions.inc"
#include "driver/nvml_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA
#undef GVB_NVML
  kCount,
};

// From the `first`-th call of `function` in this process on, it answers `code`.
struct Failure {
  Function function;
  int code;
  uint64_t first;
};

const char* const* functionNames();           // by number
int functionByName(const std::string& name);  // -1 when unknown
void armFailures(const std::vector<Failure>& failures);

extern std::atomic<bool> failuresArmed;
int countCall(Function function);

// The code this call has to fail with, or 0. Costs one relaxed load when no failure is asked for.
inline int injectedFailure(Function function) {
  return __builtin_expect(failuresArmed.load(std::memory_order_relaxed), 0) ? countCall(function) : 0;
}

}  // namespace gvb::sim
