#include "sim/driver.h"
#include "sim/exports.h"

namespace gvb::abi {

CUresult cuCheckpointProcessGetState(int, CUprocessState*) {
  GVB_SIM_ENTER(cuCheckpointProcessGetState);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCheckpointProcessGetRestoreThreadId(int, int*) {
  GVB_SIM_ENTER(cuCheckpointProcessGetRestoreThreadId);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCheckpointProcessLock(int, CUcheckpointLockArgs*) {
  GVB_SIM_ENTER(cuCheckpointProcessLock);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCheckpointProcessCheckpoint(int, CUcheckpointCheckpointArgs*) {
  GVB_SIM_ENTER(cuCheckpointProcessCheckpoint);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCheckpointProcessRestore(int, CUcheckpointRestoreArgs*) {
  GVB_SIM_ENTER(cuCheckpointProcessRestore);
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuCheckpointProcessUnlock(int, CUcheckpointUnlockArgs*) {
  GVB_SIM_ENTER(cuCheckpointProcessUnlock);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace gvb::abi
