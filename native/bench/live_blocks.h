// A set of live blocks in the order of their age, whose allocations and frees are timed alone. What is still live is
// given back, untimed, on every way out.
#pragma once

#include <deque>

#include "bench/blocks.h"

namespace gvb {

class LiveBlocks {
 public:
  LiveBlocks(const Cuda& cuda, Allocator& allocator) : cuda_(cuda), allocator_(allocator) {}
  ~LiveBlocks();
  LiveBlocks(const LiveBlocks&) = delete;
  LiveBlocks& operator=(const LiveBlocks&) = delete;

  // How long the call took, in ns.
  double allocate();
  double free_at(size_t index);

  // The newest block takes the place of `index`, so that a random victim is of random age.
  void replace_at(size_t index);
  // Allocates, or frees the oldest, until there are so many.
  void resize(size_t count, const CancelToken& token);

  abi::CUdeviceptr pointer_at(size_t index) const { return blocks_[index].pointer; }
  abi::CUdeviceptr newest() const { return blocks_.back().pointer; }
  size_t size() const { return blocks_.size(); }

 private:
  const Cuda& cuda_;
  Allocator& allocator_;
  std::deque<Block> blocks_;
};

}  // namespace gvb
