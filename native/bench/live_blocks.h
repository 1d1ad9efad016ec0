// A set of live blocks, oldest first as long as only the oldest or the newest are freed, whose allocations and frees
// are timed alone. What is still live is given back, untimed, on every way out.
#pragma once

#include <deque>
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

  // How long the call took, in ns.
  double allocate();
  // The newest takes the place of one from the middle: to move all the younger ones up would push what the calls need
  // out of the nearest caches.
  double free_at(size_t index);
  // Where the block is whose turn it is to be freed.
  size_t next(FreeOrder order, std::mt19937_64& random) const;
  // Allocates, or frees the oldest, until there are so many.
  void resize(size_t count, const CancelToken& token);

  // Untimed, that what is live is memory of its own: no two blocks overlap, and some, at random, hold what is written.
  void verify(size_t bytes, std::mt19937_64& random) const;

  abi::CUdeviceptr pointer_at(size_t index) const { return blocks_[index].pointer; }
  abi::CUdeviceptr newest() const { return blocks_.back().pointer; }
  size_t size() const { return blocks_.size(); }
  std::vector<abi::CUdeviceptr> pointers() const;

 private:
  const Cuda& cuda_;
  Allocator& allocator_;
  std::deque<Block> blocks_;
};

}  // namespace gvb
