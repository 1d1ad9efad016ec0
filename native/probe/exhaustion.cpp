// Allocates memory of every kind until there is none left: software that handles the error must keep working.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "probe/probe.h"

namespace gvb::probe {
namespace {

constexpr size_t kFirstChunk = size_t{256} << 20, kLastChunk = size_t{2} << 20;
constexpr size_t kUsedBytes = size_t{1} << 20;
// More than any machine can address, so that nothing is allocated and the machine itself does not run out of memory.
constexpr size_t kMoreThanAddressable = size_t{1} << 50;
constexpr size_t kBeyondBytes = size_t{1} << 30;

struct Memory {
  size_t free = 0, total = 0;
};

Memory memory_of(Run& run) {
  Memory memory;
  run.need(cuda::cuMemGetInfo_v2, &memory.free, &memory.total);
  return memory;
}

// Allocates until the smallest chunk is refused; returns the error code.
int fill_memory(Run& run, std::vector<CUdeviceptr>* blocks) {
  const auto allocate = run.address(cuda::cuMemAlloc_v2);
  int code = abi::CUDA_SUCCESS;
  for (size_t chunk = kFirstChunk; chunk >= kLastChunk;) {
    CUdeviceptr at = 0;
    code = allocate(&at, chunk);
    if (code == abi::CUDA_SUCCESS)
      blocks->push_back(at);
    else
      chunk /= 2;
  }
  return code;
}

void all_memory(Run& run) {
  run.enter();
  std::vector<CUdeviceptr> blocks;
  report::calls("cuMemAlloc_v2 until it is refused");
  report::code("cuMemAlloc_v2 until it is refused", fill_memory(run, &blocks));
  if (blocks.empty()) throw Over("there is no memory at all");
  // Does what a cache does after a refusal: frees something and allocates again.
  run.need(cuda::cuMemFree_v2, blocks.back());
  blocks.pop_back();
  CUdeviceptr at = 0;
  run.need(cuda::cuMemAlloc_v2, &at, kUsedBytes);
  run.fill(at, kUsedBytes, 0x39);
  run.check("memory after some was given back", at, kUsedBytes, 0x39);
  blocks.push_back(at);
  const auto release = run.address(cuda::cuMemFree_v2);
  int worst = 0;
  report::calls("cuMemFree_v2 of all of it");
  for (const CUdeviceptr block : blocks) worst = std::max(worst, release(block));
  report::code("cuMemFree_v2 of all of it", worst);
}

void one_byte_more(Run& run) {
  run.enter();
  const Memory memory = memory_of(run);
  CUdeviceptr at = 0;
  if (run.call(cuda::cuMemAlloc_v2, &at, memory.free + 1) == abi::CUDA_SUCCESS) run.need(cuda::cuMemFree_v2, at);
}

void pool(Run& run) {
  run.enter();
  const Memory memory = memory_of(run);
  CUdeviceptr at = 0;
  run.call(cuda::cuMemAllocAsync, &at, memory.total + kBeyondBytes, nullptr);
  run.call(cuda::cuStreamSynchronize, nullptr);
  run.need(cuda::cuMemAllocAsync, &at, kUsedBytes, nullptr);
  run.fill(at, kUsedBytes, 0x4d);
  run.check("memory of the pool afterwards", at, kUsedBytes, 0x4d);
  run.need(cuda::cuMemFreeAsync, at, nullptr);
  run.need(cuda::cuStreamSynchronize, nullptr);
}

void pinned(Run& run) {
  run.enter();
  void* host = nullptr;
  run.call(cuda::cuMemHostAlloc, &host, kMoreThanAddressable, 0);
  run.need(cuda::cuMemHostAlloc, &host, kUsedBytes, 0);
  run.need(cuda::cuMemFreeHost, host);
}

// Which of its steps refuses the graph differs from run to run on the same driver: its code counts, not the step.
int refused_graph(Run& run, abi::CUgraph graph, abi::CUgraphExec* executable) {
  abi::CUgraphNode node = nullptr;
  abi::CUDA_MEM_ALLOC_NODE_PARAMS_v1 memory{};
  memory.poolProps.allocType = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device};
  memory.bytesize = memory_of(run).total + kBeyondBytes;
  const auto add = run.address(cuda::cuGraphAddMemAllocNode);
  const auto instantiate = run.address(cuda::cuGraphInstantiateWithFlags);
  const auto launch = run.address(cuda::cuGraphLaunch);
  const auto wait = run.address(cuda::cuStreamSynchronize);
  int code = add(&node, graph, nullptr, 0, &memory);
  if (code == abi::CUDA_SUCCESS) code = instantiate(executable, graph, 0);
  if (code == abi::CUDA_SUCCESS) code = launch(*executable, nullptr);
  const int waited = wait(nullptr);
  return code == abi::CUDA_SUCCESS ? waited : code;
}

// The driver gives back in the background what it had reserved for the graph, and refuses every allocation until then.
void wait_for_memory(Run& run) {
  constexpr unsigned kAttempts = 300;
  const auto allocate = run.address(cuda::cuMemAlloc_v2);
  const char* step = "cuMemAlloc_v2 until it is granted";
  report::calls(step);
  CUdeviceptr at = 0;
  int code = allocate(&at, kUsedBytes);
  for (unsigned i = 1; i < kAttempts && code == abi::CUDA_ERROR_OUT_OF_MEMORY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    code = allocate(&at, kUsedBytes);
  }
  report::code(step, code);
  if (code == abi::CUDA_SUCCESS) run.need(cuda::cuMemFree_v2, at);
}

void graph(Run& run) {
  run.enter();
  abi::CUgraph graph = nullptr;
  abi::CUgraphExec executable = nullptr;
  run.need(cuda::cuGraphCreate, &graph, 0);
  const char* step = "a graph until it is refused";
  report::calls(step);
  report::code(step, refused_graph(run, graph, &executable));
  if (executable) run.need(cuda::cuGraphExecDestroy, executable);
  run.need(cuda::cuGraphDestroy, graph);
  run.need(cuda::cuDeviceGraphMemTrim, run.device);
  wait_for_memory(run);
}

}  // namespace

Probes exhaustion_probes() {
  return {
      error_probe({"all memory, some given back, and on", "", all_memory, nullptr, true}),
      error_probe({"one byte more than is free", "", one_byte_more, nullptr, true}),
      error_probe({"more than a memory pool can have", "", pool, nullptr, true}),
      error_probe({"more pinned memory than any machine has", "", pinned}),
      error_probe({"graph with more memory than the card", "", graph, nullptr, true}),
  };
}

}  // namespace gvb::probe
