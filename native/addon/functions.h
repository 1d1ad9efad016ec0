// The functions of the module by topic; init in addon.cpp exports them all. lib/native/addon-types.ts describes them.
#pragma once

#include <napi.h>

#include <vector>

namespace gvb {

struct ExportedFunction {
  const char* name;
  Napi::Value (*function)(const Napi::CallbackInfo&);
};

std::vector<ExportedFunction> inspection_functions();
std::vector<ExportedFunction> latency_functions();
std::vector<ExportedFunction> session_functions();
std::vector<ExportedFunction> start_up_functions();
std::vector<ExportedFunction> tenant_functions();

}  // namespace gvb
