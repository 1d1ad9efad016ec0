// The ways in which a program can get device memory, each with the same four operations: allocate, free, write, and
// check that it holds what was written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class MemoryPath {
  kMemAlloc,
  kMemAllocPitch,
  kMemAllocManaged,
  kMemCreate,
  kMemCreateReleased,  // the handle is released once mapped; the mapping keeps the memory
  kMemAllocAsync,
  kMemAllocFromPoolAsync,
  kArray,
  kArray3D,
  kMipmappedArray,
  kGraphNode,
  kImportedHandle,  // created, exported, imported; the original handle is released
  kModuleGlobal,
  kSmallBlocks,  // one granule plus one byte each
  kHostAlloc
};

// What a path stores for a block; each uses some of the members.
struct PathBlock {
  size_t bytes = 0;
  abi::CUdeviceptr pointer = 0;
  unsigned long long handle = 0;      // an array, a module, a graph, or mapped memory
  unsigned long long executable = 0;  // an executable graph
  void* host = nullptr;
};

// The sizes that a path supports: whole steps up to the largest. Larger requests may be refused for reasons other than
// a limit (the dimensions of arrays, the compiler).
struct PathSizes {
  size_t step;
  size_t largest;
};

class PathAllocator {
 public:
  explicit PathAllocator(DeviceSession& owner) : session(owner), cuda(owner.cuda) {}
  virtual ~PathAllocator() = default;
  PathAllocator(const PathAllocator&) = delete;
  PathAllocator& operator=(const PathAllocator&) = delete;

  virtual PathSizes sizes() const = 0;
  // Allocates `block.bytes`. Returns the driver's code; on failure nothing stays allocated.
  virtual abi::CUresult allocate(PathBlock& block) = 0;
  virtual abi::CUresult release(const PathBlock& block) = 0;
  // Overwrites all of it if possible, and its ends with `word`.
  virtual abi::CUresult write(const PathBlock& block, unsigned word);
  // Whether its ends still hold `word`. `code` receives the code of a failed call.
  virtual bool holds(const PathBlock& block, unsigned word, abi::CUresult& code);
  // Call once everything is freed: returns to the card what the driver keeps for later allocations.
  virtual void finish() {}

  // The call that returned the last failure.
  const char* failed_call = "";

 protected:
  DeviceSession& session;
  const Cuda& cuda;

  // Calls the function unless an earlier call failed, and remembers the first failure.
  template <class Function, class... Arguments>
  bool succeeds(abi::CUresult& code, Function function, const char* name, Arguments... arguments) {
    if (code != abi::CUDA_SUCCESS) return false;
    failed_call = name;
    code = cuda.require(function, name)(arguments...);
    return code == abi::CUDA_SUCCESS;
  }
};

// For constructors: throws while nothing is allocated yet that could then not be freed.
#define GVB_NEEDS(function) cuda.require(cuda.api.function, #function)

#define GVB_NEXT(code, function, ...) succeeds(code, cuda.api.function, #function, ##__VA_ARGS__)

// Throws if the driver lacks the functions.
std::unique_ptr<PathAllocator> make_path(DeviceSession& session, MemoryPath path);

// The groups that make_path selects from.
std::unique_ptr<PathAllocator> make_virtual_path(DeviceSession& session, MemoryPath path);
std::unique_ptr<PathAllocator> make_array_path(DeviceSession& session, MemoryPath path);
std::unique_ptr<PathAllocator> make_graph_path(DeviceSession& session);
std::unique_ptr<PathAllocator> make_module_path(DeviceSession& session);

}  // namespace gvb
