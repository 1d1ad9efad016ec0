// Why a driver does not compile the project's PTX, and what to do about it.
#pragma once

#include <string>

#include "driver/driver.h"

namespace gvb {

// Empty if the code does not mean that this driver cannot take the module on this GPU. `log` is the compiler's.
std::string ptx_refusal(const Cuda& cuda, abi::CUresult code, const char* ptx, const std::string& log);

// Loading PTX: throws kFunctionMissing if the driver cannot take it, so that only what needs the module is unsupported.
void check_loaded(const Cuda& cuda, const char* call, abi::CUresult code, const char* ptx, const std::string& log);
// Throws the same if the driver found no compiler before: on an H200 with driver 580 every second load of the process
// then answered 999 in place of 221.
void check_compiler();

}  // namespace gvb
