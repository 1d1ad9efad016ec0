// NCCL as a program finds it that loads it at run time, as PyTorch's Python bindings do: libnccl.so.2 by dlopen, its
// functions by dlsym.
#pragma once

#include <optional>
#include <string>

#include "driver/nccl_abi.h"

namespace gvb {

namespace abi {

struct NcclApi {
#define GVB_NCCL(name, parameters) ncclResult_t(*name) parameters = nullptr;
#include "driver/nccl_functions.inc"
#undef GVB_NCCL
  const char* (*ncclGetErrorString)(ncclResult_t) = nullptr;
  const char* (*ncclGetLastError)(ncclComm_t) = nullptr;  // since 2.13
};

}  // namespace abi

struct Nccl {
  std::string path;     // path of the file that dlopen loaded
  std::string version;  // "2.27.7"
  bool simulated = false;
  abi::NcclApi api;

  // Name of a failed call, its code and NCCL's message; empty if it succeeded.
  std::string failure(abi::ncclResult_t code, const char* call) const;
};

// NCCL, or why there is none that fits the driver. Loaded at first use.
struct FoundNccl {
  const Nccl* nccl = nullptr;
  std::string why;
};
FoundNccl find_nccl(bool simulated_driver);

}  // namespace gvb
