#include "bench/prepared_launch.h"

namespace gvb {

// Of one node.
void PreparedLaunch::build_graph() {
  abi::CUgraph built = nullptr;
  GVB_CALL(cuda_, "creating a graph", cuGraphCreate, &built, 0);
  graph_ = std::make_unique<Graph>(cuda_, built);
  abi::CUDA_KERNEL_NODE_PARAMS_v1 node{kernel_, grid_, 1, 1, threads_, 1, 1, 0, parameters_, nullptr};
  abi::CUgraphNode ignored = nullptr;
  GVB_CALL(cuda_, "adding a kernel node", cuGraphAddKernelNode, &ignored, built, nullptr, 0, &node);
  abi::CUgraphExec executable = nullptr;
  GVB_CALL(cuda_, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, built, 0);
  graph_executable_ = std::make_unique<GraphExecutable>(cuda_, executable);
}

}  // namespace gvb
