// Memory of a program's objects: the variables of a module, the allocation nodes of a graph.
#include "bench/memory_path.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

// The memory is taken when the graph is launched, and stays with the device's graphs until it is trimmed.
class GraphNodes : public PathAllocator {
 public:
  explicit GraphNodes(DeviceSession& owner) : PathAllocator(owner), stream_(make_stream(cuda)) {
    GVB_NEEDS(cuGraphAddMemAllocNode);
    GVB_NEEDS(cuGraphInstantiateWithFlags);
    GVB_NEEDS(cuGraphLaunch);
    GVB_NEEDS(cuStreamSynchronize);
    GVB_NEEDS(cuMemFreeAsync);
    GVB_NEEDS(cuGraphExecDestroy);
    GVB_NEEDS(cuGraphDestroy);
    GVB_NEEDS(cuDeviceGraphMemTrim);
  }
  PathSizes sizes() const override { return {2 << 20, size_t{64} << 30}; }

  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    abi::CUDA_MEM_ALLOC_NODE_PARAMS_v1 wanted{};
    wanted.poolProps.allocType = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.poolProps.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, session.device};
    wanted.bytesize = block.bytes;
    abi::CUgraph graph = nullptr;
    abi::CUgraphExec executable = nullptr;
    abi::CUgraphNode node = nullptr;
    GVB_NEXT(code, cuGraphCreate, &graph, 0U);
    GVB_NEXT(code, cuGraphAddMemAllocNode, &node, graph, static_cast<const abi::CUgraphNode*>(nullptr), size_t{0},
             &wanted);
    GVB_NEXT(code, cuGraphInstantiateWithFlags, &executable, graph, 0ULL);
    GVB_NEXT(code, cuGraphLaunch, executable, stream_.get());
    GVB_NEXT(code, cuStreamSynchronize, stream_.get());
    block.pointer = wanted.dptr;
    block.handle = reinterpret_cast<unsigned long long>(graph);
    block.executable = reinterpret_cast<unsigned long long>(executable);
    if (code != CUDA_SUCCESS) destroy(block);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuMemFreeAsync, block.pointer, stream_.get());
    destroy(block);
    return code;
  }
  void finish() override {
    cuda.try_call(cuda.api.cuStreamSynchronize, stream_.get());
    cuda.try_call(cuda.api.cuDeviceGraphMemTrim, session.device);
  }

 private:
  void destroy(const PathBlock& block) const {
    if (block.executable)
      cuda.try_call(cuda.api.cuGraphExecDestroy, reinterpret_cast<abi::CUgraphExec>(block.executable));
    if (block.handle) cuda.try_call(cuda.api.cuGraphDestroy, reinterpret_cast<abi::CUgraph>(block.handle));
  }

  const Stream stream_;
};

class ModuleGlobals : public PathAllocator {
 public:
  explicit ModuleGlobals(DeviceSession& owner) : PathAllocator(owner) {
    GVB_NEEDS(cuModuleGetGlobal_v2);
    GVB_NEEDS(cuModuleUnload);
  }
  // Uses few different texts: the driver compiles each once and then finds it in its cache.
  PathSizes sizes() const override { return {2 << 20, 256 << 20}; }

  CUresult allocate(PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    abi::CUmodule module = nullptr;
    const std::string ptx = text(block.bytes);
    size_t bytes = 0;
    GVB_NEXT(code, cuModuleLoadDataEx, &module, static_cast<const void*>(ptx.c_str()), 0U,
             static_cast<abi::CUjit_option*>(nullptr), static_cast<void**>(nullptr));
    // If modules are loaded lazily, this call allocates the memory.
    GVB_NEXT(code, cuModuleGetGlobal_v2, &block.pointer, &bytes, module, "gvb_room");
    if (code != CUDA_SUCCESS && module) cuda.try_call(cuda.api.cuModuleUnload, module);
    block.handle = reinterpret_cast<unsigned long long>(module);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuModuleUnload, reinterpret_cast<abi::CUmodule>(block.handle));
    return code;
  }

 private:
  static std::string text(size_t bytes) {
    return ".version 6.3\n.target sm_75\n.address_size 64\n.visible .global .align 16 .b8 gvb_room[" +
           std::to_string(bytes) + "];\n.visible .entry gvb_of_room() { ret; }\n";
  }
};

}  // namespace

std::unique_ptr<PathAllocator> make_graph_path(DeviceSession& session) { return std::make_unique<GraphNodes>(session); }

std::unique_ptr<PathAllocator> make_module_path(DeviceSession& session) {
  return std::make_unique<ModuleGlobals>(session);
}

}  // namespace gvb
