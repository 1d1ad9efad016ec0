// Memory of graphs, created by stream capture and by nodes.
#include "probe/probe.h"

namespace gvb::probe {
namespace {

using abi::CUgraph;
using abi::CUgraphExec;
using abi::CUgraphNode;
using abi::CUstream;

constexpr size_t kGraphBytes = 2 << 20;

void launch_once(Run& run, CUgraph graph, CUstream stream) {
  CUgraphExec exec = nullptr;
  run.need(cuda::cuGraphInstantiateWithFlags, &exec, graph, 0);
  run.need(cuda::cuGraphLaunch, exec, stream);
  run.need(cuda::cuStreamSynchronize, stream);
  run.need(cuda::cuGraphExecDestroy, exec);
}

void allocation_in_capture(Run& run) {
  run.enter();
  CUdeviceptr result = 0, temporary = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  run.need(cuda::cuMemAlloc_v2, &result, kGraphBytes);
  run.fill(result, kGraphBytes, 0);
  run.need(cuda::cuCtxSynchronize);
  run.need(cuda::cuStreamCreate, &stream, abi::CU_STREAM_NON_BLOCKING);
  run.need(cuda::cuStreamBeginCapture_v2, stream, abi::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  run.need(cuda::cuMemAllocAsync, &temporary, kGraphBytes, stream);
  run.need(cuda::cuMemsetD8Async, temporary, 0x77, kGraphBytes, stream);
  run.need(cuda::cuMemcpyDtoDAsync_v2, result, temporary, kGraphBytes, stream);
  run.need(cuda::cuMemFreeAsync, temporary, stream);
  run.need(cuda::cuStreamEndCapture, stream, &graph);
  launch_once(run, graph, stream);
  run.check("what the graph copied out of its memory", result, kGraphBytes, 0x77);
  run.need(cuda::cuGraphDestroy, graph);
  run.need(cuda::cuStreamDestroy_v2, stream);
  run.need(cuda::cuMemFree_v2, result);
}

void memory_nodes(Run& run) {
  run.enter();
  CUgraph graph = nullptr;
  CUgraphNode allocation = nullptr, kernel = nullptr;
  abi::CUDA_MEM_ALLOC_NODE_PARAMS_v1 memory{};
  memory.poolProps.allocType = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device};
  memory.bytesize = kGraphBytes;
  abi::CUDA_KERNEL_NODE_PARAMS_v1 launch{};
  launch.func = run.empty_kernel();
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
  run.need(cuda::cuGraphCreate, &graph, 0);
  run.need(cuda::cuGraphAddMemAllocNode, &allocation, graph, nullptr, 0, &memory);
  run.need(cuda::cuGraphAddKernelNode, &kernel, graph, &allocation, 1, &launch);
  launch_once(run, graph, nullptr);
  // No node frees it, so it outlives the launch, and the program uses and frees it.
  run.fill(memory.dptr, kGraphBytes, 0x11);
  run.check("memory of the graph", memory.dptr, kGraphBytes, 0x11);
  run.need(cuda::cuMemFree_v2, memory.dptr);
  run.need(cuda::cuGraphDestroy, graph);
  run.need(cuda::cuDeviceGraphMemTrim, run.device);
}

}  // namespace

Probes graph_probes() {
  return {
      {"asynchronous allocation inside stream capture", "HAMi-core#181", allocation_in_capture},
      {"graph with memory nodes", "HAMi#1445", memory_nodes},
  };
}

}  // namespace gvb::probe
