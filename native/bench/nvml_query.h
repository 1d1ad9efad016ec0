// NVML calls that return one value, and their failures.
#pragma once

#include <optional>
#include <vector>

#include "driver/api_tables.h"

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
