#include <algorithm>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/allocation.h"
#include "sim/memory/graph_memory.h"
#include "sim/work/launch.h"

namespace gvb::sim {
namespace {

// A kernel or a memory node.
struct Node {
  std::shared_ptr<GraphAddresses> memory;  // null for a kernel
  FunctionInfo function;
  Geometry geometry;
  std::vector<std::vector<unsigned char>> arguments;  // values by parameter
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

GraphExecTable& graph_execs() {
  static GraphExecTable& table = *new GraphExecTable;
  return table;
}

// A node's handle holds its graph's id and its index.
constexpr unsigned kNodeIndexBits = 24;

abi::CUgraphNode node_handle(const Graph& graph, size_t index) {
  return reinterpret_cast<abi::CUgraphNode>((graph.id << kNodeIndexBits) | index);
}

size_t index_of(abi::CUgraphNode handle) { return reinterpret_cast<uint64_t>(handle) & ((1u << kNodeIndexBits) - 1); }

bool is_node_of(const Graph& graph, abi::CUgraphNode handle) {
  return reinterpret_cast<uint64_t>(handle) >> kNodeIndexBits == graph.id && index_of(handle) < graph.nodes.size();
}

Node& node_of(Graph* graph, abi::CUgraphNode handle) { return graph->nodes[index_of(handle)]; }

bool are_nodes_of(const Graph& graph, const abi::CUgraphNode* handles, size_t count) {
  return std::all_of(handles, handles + count, [&](abi::CUgraphNode handle) { return is_node_of(graph, handle); });
}

struct MadeNode {
  abi::CUresult code;
  Node node;
};

MadeNode make_node(const Graph& graph, const abi::CUDA_KERNEL_NODE_PARAMS_v1& from,
                   const abi::CUgraphNode* dependencies, size_t count) {
  const FunctionInfo* function = find_function(from.func);
  if (function == nullptr) return {abi::CUDA_ERROR_INVALID_HANDLE, {}};
  if (from.extra != nullptr || function->kernel == nullptr) return {abi::CUDA_ERROR_NOT_SUPPORTED, {}};
  MadeNode made = {abi::CUDA_SUCCESS, {}};
  made.node.function = *function;
  made.node.geometry = {{from.gridDimX, from.gridDimY, from.gridDimZ},
                        {from.blockDimX, from.blockDimY, from.blockDimZ},
                        from.sharedMemBytes};
  if (const abi::CUresult bad = check_geometry(made.node.geometry, card_of(*function))) return {bad, {}};
  for (size_t i = 0; i < function->kernel->parameter_bytes.size(); ++i) {
    if (from.kernelParams == nullptr || from.kernelParams[i] == nullptr) return {abi::CUDA_ERROR_INVALID_VALUE, {}};
    const auto* bytes = static_cast<const unsigned char*>(from.kernelParams[i]);
    made.node.arguments.emplace_back(bytes, bytes + function->kernel->parameter_bytes[i]);
  }
  if (!are_nodes_of(graph, dependencies, count)) return {abi::CUDA_ERROR_INVALID_VALUE, {}};
  return made;
}

// On the part of the multiprocessors that the stream has.
Prepared prepare_node(const Stream& stream, Node* node) {
  std::vector<void*> values;
  for (auto& value : node->arguments) values.push_back(value.data());
  Geometry geometry = node->geometry;
  geometry.multiprocessors = stream.multiprocessors;
  return prepare(stream.context, node->function, geometry, values.data());
}

// Allocates all of its memory or none.
abi::CUresult allocate_memory(Context* context, const Graph& graph) {
  std::vector<uint64_t> made;
  for (const Node& node : graph.nodes) {
    if (!node.memory) continue;
    const abi::CUresult code = allocate_for_graph(context, node.memory);
    if (code == abi::CUDA_SUCCESS) {
      made.push_back(node.memory->address);
      continue;
    }
    for (const uint64_t address : made)
      if (const auto block = remove_block(address)) free_block(*block);
    return code;
  }
  return abi::CUDA_SUCCESS;
}

// Runs the nodes one after the other, which is valid for any dependencies between them.
abi::CUresult launch_graph(Context* context, Stream* stream, Graph* graph, int64_t until) {
  if (const abi::CUresult code = allocate_memory(context, *graph)) return code;
  std::vector<Prepared> prepared;
  std::vector<std::string> names;
  for (Node& node : graph->nodes) {
    if (node.memory) continue;
    names.push_back(node.function.name);
    if (node.function.context != context->handle) return abi::CUDA_ERROR_INVALID_CONTEXT;
    prepared.push_back(prepare_node(*stream, &node));
    if (prepared.back().code != abi::CUDA_SUCCESS) return prepared.back().code;
    if (prepared.back().plan.ending == Ending::kAnswering) return abi::CUDA_ERROR_NOT_SUPPORTED;
  }
  const std::lock_guard<std::mutex> lock(context->mutex);
  const int64_t begin = first_instruction(until);
  std::vector<Submission> all;
  for (size_t i = 0; i < prepared.size(); ++i)
    all.push_back(submission_of(*context, &prepared[i].plan, begin, RecordedCall::of_kernel(names[i])));
  for (size_t i = 0; i < all.size(); i += kMostSubmissions)
    submit(stream, &all[i], std::min(kMostSubmissions, all.size() - i));
  return abi::CUDA_SUCCESS;
}

}  // namespace

abi::CUgraph make_graph() {
  auto graph = std::make_unique<Graph>();
  graph->id = next_id();
  return reinterpret_cast<abi::CUgraph>(graphs().insert(std::move(graph)));
}

abi::CUresult capture_kernel(const Stream& stream, abi::CUfunction function, const Geometry& geometry,
                             void** arguments) {
  Graph* graph = graphs().find(reinterpret_cast<uint64_t>(stream.capture));
  if (graph == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
  const unsigned* grid = geometry.grid;
  const unsigned* block = geometry.block;
  const abi::CUDA_KERNEL_NODE_PARAMS_v1 parameters{
      function, grid[0], grid[1], grid[2], block[0], block[1], block[2], geometry.shared_bytes, arguments, nullptr};
  MadeNode made = make_node(*graph, parameters, nullptr, 0);
  if (made.code == abi::CUDA_SUCCESS) graph->nodes.push_back(std::move(made.node));
  return made.code;
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::Graph;

CUresult cuGraphCreate(CUgraph* handle, unsigned flags) {
  GVB_SIM_ENTER(cuGraphCreate);
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = sim::make_graph();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  GVB_SIM_ENTER(cuGraphDestroy);
  return sim::graphs().remove(reinterpret_cast<uint64_t>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  GVB_SIM_ENTER(cuGraphAddKernelNode);
  Graph* graph = sim::graphs().find(reinterpret_cast<uint64_t>(graph_handle));
  if (graph == nullptr || handle == nullptr || parameters == nullptr || (count > 0 && dependencies == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  sim::MadeNode made = sim::make_node(*graph, *parameters, dependencies, count);
  if (made.code != CUDA_SUCCESS) return made.code;
  graph->nodes.push_back(std::move(made.node));
  *handle = sim::node_handle(*graph, graph->nodes.size() - 1);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS_v1* parameters) {
  GVB_SIM_ENTER(cuGraphAddMemAllocNode);
  Graph* graph = sim::graphs().find(reinterpret_cast<uint64_t>(graph_handle));
  if (graph == nullptr || handle == nullptr || parameters == nullptr || (count > 0 && dependencies == nullptr) ||
      !sim::are_nodes_of(*graph, dependencies, count))
    return CUDA_ERROR_INVALID_VALUE;
  const CUmemPoolProps& from = parameters->poolProps;
  if (from.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || from.handleTypes != 0 || parameters->bytesize == 0 ||
      from.location.type != CU_MEM_LOCATION_TYPE_DEVICE || parameters->accessDescCount != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const int device = sim::physical_device(from.location.id);
  if (device < 0) return CUDA_ERROR_INVALID_DEVICE;
  sim::Node node;
  node.memory = sim::GraphAddresses::take(device, parameters->bytesize);
  if (!node.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  parameters->dptr = node.memory->address;
  graph->nodes.push_back(std::move(node));
  *handle = sim::node_handle(*graph, graph->nodes.size() - 1);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* handle, CUgraph graph_handle, unsigned long long) {
  GVB_SIM_ENTER(cuGraphInstantiateWithFlags);
  const Graph* graph = sim::graphs().find(reinterpret_cast<uint64_t>(graph_handle));
  if (handle == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<CUgraphExec>(sim::graph_execs().insert(std::make_unique<Graph>(*graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  GVB_SIM_ENTER(cuGraphExecKernelNodeSetParams_v2);
  Graph* graph = sim::graph_execs().find(reinterpret_cast<uint64_t>(handle));
  if (graph == nullptr || parameters == nullptr || !sim::is_node_of(*graph, node)) return CUDA_ERROR_INVALID_VALUE;
  if (parameters->kern != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUDA_KERNEL_NODE_PARAMS_v2& from = *parameters;
  sim::MadeNode made =
      sim::make_node(*graph,
                     {from.func, from.gridDimX, from.gridDimY, from.gridDimZ, from.blockDimX, from.blockDimY,
                      from.blockDimZ, from.sharedMemBytes, from.kernelParams, from.extra},
                     nullptr, 0);
  if (made.code == CUDA_SUCCESS) sim::node_of(graph, node) = std::move(made.node);
  return made.code;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuGraphLaunch, stream_handle);
  const sim::HostCost cost(sim::settings().launch_ns);
  Graph* graph = sim::graph_execs().find(reinterpret_cast<uint64_t>(handle));
  return graph == nullptr ? CUDA_ERROR_INVALID_HANDLE : sim::launch_graph(context, stream, graph, cost.until());
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  GVB_SIM_ENTER(cuGraphExecDestroy);
  return sim::graph_execs().remove(reinterpret_cast<uint64_t>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace gvb::abi
