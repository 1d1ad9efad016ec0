// A set of live blocks whose allocations and frees are timed separately. It is ordered by age as long as only the
// oldest or newest are freed. Remaining blocks are freed, untimed, on every way out.
#pragma once

#include <deque>
#include <optional>
#include <random>

#include "bench/blocks.h"

namespace gvb {

enum class FreeOrder { kFifo, kLifo, kRandom };

class LiveBlocks {
 public:
  LiveBlocks(const Cuda& cuda, Allocator& allocator) : cuda_(cuda), allocator_(allocator) {}
  ~LiveBlocks();
  LiveBlocks(const LiveBlocks&) = delete;
  LiveBlocks& operator=(const LiveBlocks&) = delete;

  // Returns the duration of the call in ns.
  double allocate();
  // For virtual memory: how much of the last one cuMemCreate took; nullopt elsewhere.
  std::optional<double> create_ns() const { return create_ns_; }
  // Replaces a freed block in the middle by the newest: moving all younger ones would evict what the calls need from
  // the L1 and L2 caches.
  double free_at(size_t index);
  // The index of the block to free next.
  size_t next(FreeOrder order, std::mt19937_64& random) const;
  // Allocates, or frees the oldest, until there are `count` blocks.
  void resize(size_t count, const CancelToken& token);

  // Checks, untimed, that the live blocks are separate memory: none overlap, and some, chosen at random, hold what is
  // written to them.
  void verify(size_t bytes, std::mt19937_64& random) const;

  abi::CUdeviceptr pointer_at(size_t index) const { return blocks_[index].pointer; }
  abi::CUdeviceptr newest() const { return blocks_.back().pointer; }
  size_t size() const { return blocks_.size(); }
  std::vector<abi::CUdeviceptr> pointers() const;

 private:
  const Cuda& cuda_;
  Allocator& allocator_;
  std::deque<Block> blocks_;
  std::optional<double> create_ns_;
};

}  // namespace gvb
