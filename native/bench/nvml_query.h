// Calls of NVML that answer with one value, and what becomes of those that do not.
#pragma once

#include <optional>
#include <vector>

#include "driver/api_tables.h"

namespace gvb {

// A call that NVML answered with another code than success.
struct NvmlRefusal {
  const char* call;
  abi::nvmlReturn_t code;
};
using NvmlRefusals = std::vector<NvmlRefusal>;

inline void note_refusal(NvmlRefusals* refusals, const char* call, abi::nvmlReturn_t code) {
  if (refusals) refusals->push_back({call, code});
}

struct NvmlQuery {
  NvmlRefusals* refusals;  // nullptr: nobody wants to know

  // `function` takes the arguments and a pointer to the value; nullptr: this NVML does not have it.
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
