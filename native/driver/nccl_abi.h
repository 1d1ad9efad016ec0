// The subset of NCCL's ABI that this project uses. See cuda_abi.h.
#pragma once

#include <cstddef>

#include "driver/cuda_abi.h"

namespace gvb::abi {

enum ncclResult_t : int {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};
enum ncclDataType_t : int { ncclUint32 = 3, ncclFloat16 = 6, ncclFloat32 = 7, ncclBfloat16 = 9 };
enum ncclRedOp_t : int { ncclSum = 0 };

struct ncclUniqueId {
  char internal[128];
};
using ncclComm_t = struct ncclComm*;

}  // namespace gvb::abi
