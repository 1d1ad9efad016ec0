#include <algorithm>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/launch.h"

namespace gvb::sim {
namespace {

struct Node {
  FunctionInfo function;
  Geometry geometry;
  std::vector<std::vector<unsigned char>> arguments;  // their values, by parameter
  std::vector<size_t> dependencies;                   // indices of earlier nodes
};

struct Graph {
  uint64_t id = 0;
  std::vector<Node> nodes;
};

using GraphTable = HandleTable<Graph, 0x17>;
using GraphExecTable = HandleTable<Graph, 0x18>;

GraphTable& graphs() {
  static GraphTable& table = *new GraphTable;
  return table;
}

GraphExecTable& graphExecs() {
  static GraphExecTable& table = *new GraphExecTable;
  return table;
}

// A node's handle holds its graph's id and its index.
constexpr unsigned kNodeIndexBits = 24;

abi::CUgraphNode nodeHandle(const Graph& graph, size_t index) {
  return reinterpret_cast<abi::CUgraphNode>((graph.id << kNodeIndexBits) | index);
}

bool nodeIndex(const Graph& graph, abi::CUgraphNode handle, size_t* index) {
  const auto value = reinterpret_cast<uint64_t>(handle);
  *index = value & ((1u << kNodeIndexBits) - 1);
  return value >> kNodeIndexBits == graph.id && *index < graph.nodes.size();
}

abi::CUresult makeNode(const Graph& graph, const abi::CUDA_KERNEL_NODE_PARAMS_v1& from,
                       const abi::CUgraphNode* dependencies, size_t count, Node* node) {
  const FunctionInfo* function = findFunction(from.func);
  if (function == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  if (from.extra != nullptr || function->kernel == nullptr) return abi::CUDA_ERROR_NOT_SUPPORTED;
  node->function = *function;
  node->geometry = {{from.gridDimX, from.gridDimY, from.gridDimZ},
                    {from.blockDimX, from.blockDimY, from.blockDimZ},
                    from.sharedMemBytes};
  if (const abi::CUresult bad = checkGeometry(node->geometry)) return bad;
  for (size_t i = 0; i < function->kernel->parameterBytes.size(); ++i) {
    if (from.kernelParams == nullptr || from.kernelParams[i] == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
    const auto* bytes = static_cast<const unsigned char*>(from.kernelParams[i]);
    node->arguments.emplace_back(bytes, bytes + function->kernel->parameterBytes[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    size_t index = 0;
    if (!nodeIndex(graph, dependencies[i], &index)) return abi::CUDA_ERROR_INVALID_VALUE;
    node->dependencies.push_back(index);
  }
  return abi::CUDA_SUCCESS;
}

Prepared prepareNode(Context* context, Node* node) {
  std::vector<void*> values;
  for (auto& value : node->arguments) values.push_back(value.data());
  return prepare(context, node->function, node->geometry, values.data());
}

abi::CUresult launchGraph(Context* context, Stream* stream, Graph* graph, int64_t until) {
  std::vector<Prepared> prepared;
  for (Node& node : graph->nodes) {
    if (node.function.context != context->handle) return abi::CUDA_ERROR_INVALID_CONTEXT;
    prepared.push_back(prepareNode(context, &node));
    if (prepared.back().code != abi::CUDA_SUCCESS) return prepared.back().code;
  }
  std::vector<int64_t> ends(graph->nodes.size());
  {
    std::lock_guard<std::mutex> lock(context->mutex);
    joinDefaultStream(stream);
    const int64_t begin = std::max(firstInstruction(until), stream->tail);
    for (size_t i = 0; i < ends.size(); ++i) {
      int64_t earliest = begin;
      for (const size_t dependency : graph->nodes[i].dependencies) earliest = std::max(earliest, ends[dependency]);
      const Placement placement = submit(stream, std::move(prepared[i].plan), earliest);
      RecordedCall::ofKernel(graph->nodes[i].function.name.c_str(), placement.start, placement.end);
      ends[i] = placement.end;
      stream->tail = std::max(stream->tail, ends[i]);
    }
  }
  boundQueue(context);
  return abi::CUDA_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Graph;

CUresult cuGraphCreate(CUgraph* handle, unsigned flags) {
  GVB_SIM_ENTER(cuGraphCreate);
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto graph = std::make_unique<Graph>();
  graph->id = sim::nextId();
  *handle = reinterpret_cast<CUgraph>(sim::graphs().insert(std::move(graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  GVB_SIM_ENTER(cuGraphDestroy);
  return sim::graphs().remove(reinterpret_cast<uint64_t>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode(CUgraphNode* handle, CUgraph graphHandle, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  GVB_SIM_ENTER(cuGraphAddKernelNode);
  Graph* graph = sim::graphs().find(reinterpret_cast<uint64_t>(graphHandle));
  if (graph == nullptr || handle == nullptr || parameters == nullptr || (count > 0 && dependencies == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  sim::Node node;
  if (const CUresult bad = sim::makeNode(*graph, *parameters, dependencies, count, &node)) return bad;
  graph->nodes.push_back(std::move(node));
  *handle = sim::nodeHandle(*graph, graph->nodes.size() - 1);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* handle, CUgraph graphHandle, unsigned long long) {
  GVB_SIM_ENTER(cuGraphInstantiateWithFlags);
  const Graph* graph = sim::graphs().find(reinterpret_cast<uint64_t>(graphHandle));
  if (handle == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<CUgraphExec>(sim::graphExecs().insert(std::make_unique<Graph>(*graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuGraphLaunch, streamHandle);
  const sim::HostCost cost(sim::settings().launch_ns);
  Graph* graph = sim::graphExecs().find(reinterpret_cast<uint64_t>(handle));
  return graph == nullptr ? CUDA_ERROR_INVALID_HANDLE : sim::launchGraph(context, stream, graph, cost.until());
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  GVB_SIM_ENTER(cuGraphExecDestroy);
  return sim::graphExecs().remove(reinterpret_cast<uint64_t>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace gvb::abi
