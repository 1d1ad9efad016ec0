#pragma once

#include <string>

#include "driver/nccl_abi.h"
#include "sim/functions.h"
#include "sim/recorded_call.h"

namespace gvb::abi {

#define GVB_NCCL(name, params) extern "C" __attribute__((visibility("default"))) ncclResult_t name params;
#include "driver/nccl_functions.inc"
#undef GVB_NCCL
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(ncclResult_t code);
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(ncclComm_t communicator);

}  // namespace gvb::abi

namespace gvb::sim {

// Returns the code and stores the text for ncclGetLastError.
abi::ncclResult_t fail(abi::ncclResult_t code, const std::string& why);

}  // namespace gvb::sim

#define GVB_SIM_NCCL(name)                                              \
  gvb::sim::environment();                                              \
  const gvb::sim::RecordedCall recorded_call(gvb::sim::Function::name); \
  if (const int injected = gvb::sim::injected_failure(gvb::sim::Function::name)) return ncclResult_t(injected)
