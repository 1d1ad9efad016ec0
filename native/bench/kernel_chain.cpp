#include "bench/kernel_chain.h"

namespace gvb {

namespace {

Graph make_graph(const Cuda& cuda) {
  abi::CUgraph graph = nullptr;
  GVB_CALL(cuda, "creating a graph", cuGraphCreate, &graph, 0);
  return Graph(cuda, graph);
}

}  // namespace

KernelChain::KernelChain(const Cuda& cuda, abi::CUfunction kernel, const ChainShape& shape, void** parameters)
    : graph_(make_graph(cuda)), executable_(cuda, nullptr) {
  abi::CUDA_KERNEL_NODE_PARAMS_v1 node{kernel, shape.grid, 1, 1, shape.threads, 1, 1, 0, parameters, nullptr};
  for (unsigned i = 0; i < shape.nodes; ++i) {
    const abi::CUgraphNode before = node_;
    GVB_CALL(cuda, "adding a kernel node", cuGraphAddKernelNode, &node_, graph_.get(), i > 0 ? &before : nullptr,
             i > 0 ? 1 : 0, &node);
  }
  abi::CUgraphExec executable = nullptr;
  GVB_CALL(cuda, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, graph_.get(), 0);
  executable_ = GraphExecutable(cuda, executable);
}

}  // namespace gvb
