// NVML calls that return one value, and their failures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/api_tables.h"
#include "driver/error.h"

namespace gvb {

// An NVML call that failed.
struct NvmlRefusal {
  const char* call;
  abi::nvmlReturn_t code;
};
using NvmlRefusals = std::vector<NvmlRefusal>;

inline void note_refusal(NvmlRefusals* refusals, const char* call, abi::nvmlReturn_t code) {
  if (refusals) refusals->push_back({call, code});
}

// Returns the function, or throws kFunctionMissing if this NVML lacks it.
template <class Function>
Function require_nvml(Function function, const char* name) {
  if (function) return function;
  throw Failure(FailureKind::kFunctionMissing, std::string(name) +
                                                   " is not offered by this libnvidia-ml.so.1: install the one that "
                                                   "belongs to the driver, or a newer driver.");
}

struct NvmlQuery {
  NvmlRefusals* refusals;  // nullptr: not collected

  // `function` takes the arguments and a pointer to the value; nullptr: this NVML lacks it.
  template <class Value, class Function, class... Arguments>
  std::optional<Value> value(const char* call, Function function, Arguments... arguments) const {
    Value value{};
    const abi::nvmlReturn_t code = function ? function(arguments..., &value) : abi::NVML_ERROR_FUNCTION_NOT_FOUND;
    if (code == abi::NVML_SUCCESS) return value;
    note_refusal(refusals, call, code);
    return std::nullopt;
  }
};

}  // namespace gvb
