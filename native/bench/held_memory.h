// Device memory that a session holds, in batches of one path each, until it is told to free it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/memory_path.h"

namespace gvb {

// An error code of a call, and the smallest request that it refused.
struct Refusal {
  abi::CUresult code;
  std::string name;
  std::string call;
  uint64_t bytes;
};

void note_refused(std::vector<Refusal>& refusals, const Cuda& cuda, abi::CUresult code, const char* call,
                  uint64_t bytes);

// Whether a context with this error fails every later call.
bool is_sticky(abi::CUresult code);

// Free memory of the card by NVML, regardless of any layer; if NVML does not report it, the value that the process is
// told.
uint64_t card_free(const DeviceSession& session);

struct MemoryReleased {
  uint64_t blocks = 0;
  // Result of repeating the latest allocation after it was freed; nullopt if nothing was held.
  std::optional<abi::CUresult> again;
  std::vector<Refusal> failures;  // errors of frees
};

struct HeldBlock {
  PathBlock block;
  unsigned word;
};

// The blocks that one request allocated.
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

  // The word written to the n-th block of a process: two blocks that share memory cannot both hold their own.
  static unsigned word_of(size_t number) { return 0x9e3779b9u * static_cast<unsigned>(number + 1); }

  FillBatch& begin(std::unique_ptr<PathAllocator> path);
  unsigned next_word() { return word_of(made_++); }

  // Allocates and writes a block. On success the batch has one more; `no_memory` says why a granted block cannot be
  // written.
  abi::CUresult take(FillBatch& batch, size_t bytes, std::string& no_memory);

  // Why a block of any batch is not memory of its own; empty if all are.
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
