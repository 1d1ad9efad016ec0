// The ways in which a program can obtain device memory, each with the same four operations: give, take back, write, and
// does it hold what was written.
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
  kMemCreateReleased,  // the handle is released as soon as it is mapped; the mapping keeps the memory
  kMemAllocAsync,
  kMemAllocFromPoolAsync,
  kArray,
  kArray3D,
  kMipmappedArray,
  kGraphNode,
  kImportedHandle,  // made, exported, imported; the handle that made it is released
  kModuleGlobal,
  kSmallBlocks,  // of one granularity and a byte
  kHostAlloc
};

// What each path keeps of a block is its own; none uses all of it.
struct PathBlock {
  size_t bytes = 0;
  abi::CUdeviceptr pointer = 0;
  unsigned long long handle = 0;      // of an array, a module or a graph, or of memory that is mapped
  unsigned long long executable = 0;  // of a graph
  void* host = nullptr;
};

// The sizes that a path can give: whole steps up to the largest. Beyond that a refusal may have other reasons than a
// limit (the dimensions of arrays, what the compiler takes).
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
  // Of `block.bytes`. Returns the driver's code and, on failure, leaves nothing allocated.
  virtual abi::CUresult allocate(PathBlock& block) = 0;
  virtual abi::CUresult release(const PathBlock& block) = 0;
  // Overwrites all of it where that is possible, and its ends with `word`.
  virtual abi::CUresult write(const PathBlock& block, unsigned word);
  // Whether its ends still hold `word`. The code of a call that failed in `code`.
  virtual bool holds(const PathBlock& block, unsigned word, abi::CUresult& code);
  // Once everything is released: what the driver keeps for later allocations goes back to the card.
  virtual void finish() {}

  // The call that returned the last failure.
  const char* failed_call = "";

 protected:
  DeviceSession& session;
  const Cuda& cuda;

  // Calls on until the first failure, which it remembers.
  template <class Function, class... Arguments>
  bool succeeds(abi::CUresult& code, Function function, const char* name, Arguments... arguments) {
    if (code != abi::CUDA_SUCCESS) return false;
    failed_call = name;
    code = cuda.require(function, name)(arguments...);
    return code == abi::CUDA_SUCCESS;
  }
};

#define GVB_NEXT(code, function, ...) succeeds(code, cuda.api.function, #function, ##__VA_ARGS__)

// Throws where the driver has no such functions.
std::unique_ptr<PathAllocator> make_path(DeviceSession& session, MemoryPath path);

// The groups of which make_path picks.
std::unique_ptr<PathAllocator> make_virtual_path(DeviceSession& session, MemoryPath path);
std::unique_ptr<PathAllocator> make_array_path(DeviceSession& session, MemoryPath path);
std::unique_ptr<PathAllocator> make_graph_path(DeviceSession& session);
std::unique_ptr<PathAllocator> make_module_path(DeviceSession& session);

}  // namespace gvb
