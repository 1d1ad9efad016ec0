// Memory of the device that a session holds, in batches of one path each, until it is told to give it back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/memory_path.h"

namespace gvb {

// The first of its code and call, and the smallest request that it met.
struct Refusal {
  abi::CUresult code;
  std::string name;
  std::string call;
  uint64_t bytes;
};

void note_refused(std::vector<Refusal>& refusals, const Cuda& cuda, abi::CUresult code, const char* call,
                  uint64_t bytes);

// A context that failed for good refuses everything after that.
bool is_sticky(abi::CUresult code);

// As NVML says it, past any layer; as the process is told, where NVML does not.
uint64_t card_free(const DeviceSession& session);

struct MemoryReleased {
  uint64_t blocks = 0;
  // Of an allocation like the latest one, after that was freed; nothing where none was held.
  std::optional<abi::CUresult> again;
  std::vector<Refusal> failures;  // of frees
};

struct HeldBlock {
  PathBlock block;
  unsigned word;
};

// What one call took.
struct FillBatch {
  explicit FillBatch(std::unique_ptr<PathAllocator> way) : path(std::move(way)) {}
  std::unique_ptr<PathAllocator> path;
  std::vector<HeldBlock> blocks;
};

class HeldMemory {
 public:
  explicit HeldMemory(DeviceSession& session) : cuda_(session.cuda) {}
  ~HeldMemory() { release(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  // Of the n-th block of a process: two that share memory do not both hold their own.
  static unsigned word_of(size_t number) { return 0x9e3779b9u * static_cast<unsigned>(number + 1); }

  FillBatch& begin(std::unique_ptr<PathAllocator> path);
  unsigned next_word() { return word_of(made_++); }

  // Allocates and writes a block. On success the batch has one more; `no_memory` says why what was granted cannot be
  // written.
  abi::CUresult take(FillBatch& batch, size_t bytes, std::string& no_memory);

  // Why a block of any batch is no memory of its own; empty where all are.
  std::string look_at_all() const;

  MemoryReleased release();

  const std::vector<std::unique_ptr<FillBatch>>& batches() const { return batches_; }

 private:
  void release_last(FillBatch& batch, MemoryReleased& released) const;
  abi::CUresult allocate_again(FillBatch& batch, MemoryReleased& released) const;

  const Cuda& cuda_;
  std::vector<std::unique_ptr<FillBatch>> batches_;
  size_t made_ = 0;
};

}  // namespace gvb
