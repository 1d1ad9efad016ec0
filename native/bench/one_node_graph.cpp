#include "bench/one_node_graph.h"

namespace gvb {

namespace {

Graph make_graph(const Cuda& cuda) {
  abi::CUgraph graph = nullptr;
  GVB_CALL(cuda, "creating a graph", cuGraphCreate, &graph, 0);
  return Graph(cuda, graph);
}

}  // namespace

OneNodeGraph::OneNodeGraph(const Cuda& cuda, abi::CUfunction kernel, unsigned grid, unsigned threads, void** parameters)
    : graph_(make_graph(cuda)), executable_(cuda, nullptr) {
  abi::CUDA_KERNEL_NODE_PARAMS_v1 node{kernel, grid, 1, 1, threads, 1, 1, 0, parameters, nullptr};
  GVB_CALL(cuda, "adding a kernel node", cuGraphAddKernelNode, &node_, graph_.get(), nullptr, 0, &node);
  abi::CUgraphExec executable = nullptr;
  GVB_CALL(cuda, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, graph_.get(), 0);
  executable_ = GraphExecutable(cuda, executable);
}

}  // namespace gvb
