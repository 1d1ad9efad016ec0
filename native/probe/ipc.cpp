// Access to another process's memory, as NCCL and PyTorch's multiprocessing use it.
#include "probe/probe.h"
#include "probe/process.h"
#include "probe/token.h"

namespace gvb::probe {
namespace {

constexpr size_t kIpcBytes = 2 << 20;

void share(Run& run) {
  run.enter();
  CUdeviceptr at = 0;
  abi::CUipcMemHandle handle{};
  run.need(cuda::cuMemAlloc_v2, &at, kIpcBytes);
  run.fill(at, kIpcBytes, 0x21);
  run.need(cuda::cuCtxSynchronize);
  run.need(cuda::cuIpcGetMemHandle, &handle, at);
  const SecondProcess second{"", token_of(&handle, sizeof handle), environment_with({}), -1};
  await_end("the opening process", start(run, second));
  run.check("what the other process wrote", at, kIpcBytes, 0x12);
  run.need(cuda::cuMemFree_v2, at);
}

void open(Run& run) {
  abi::CUipcMemHandle handle{};
  read_token(*run.options.token, &handle, sizeof handle);
  run.enter();
  CUdeviceptr at = 0;
  run.need(cuda::cuIpcOpenMemHandle_v2, &at, handle, abi::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  run.check("memory of the other process", at, kIpcBytes, 0x21);
  run.fill(at, kIpcBytes, 0x12);
  run.need(cuda::cuCtxSynchronize);
  run.need(cuda::cuIpcCloseMemHandle, at);
}

}  // namespace

Probes ipc_probes() { return {{"IPC, export, open and close", "HAMi#2760", share, open}}; }

}  // namespace gvb::probe
