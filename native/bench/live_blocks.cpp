#include "bench/live_blocks.h"

#include "base/clock.h"

namespace gvb {

using abi::CUresult;

LiveBlocks::~LiveBlocks() {
  for (const Block& block : blocks_) {
    allocator_.release(block);
    allocator_.retire(block);
  }
}

double LiveBlocks::allocate() {
  Block block = allocator_.prepare();
  const int64_t before = now_ns();
  const CUresult code = allocator_.allocate(block);
  const int64_t after = now_ns();
  if (code != abi::CUDA_SUCCESS) allocator_.retire(block);
  cuda_.check(code, allocator_.failed_call(), "allocating device memory");
  blocks_.push_back(block);
  if (const auto created = allocator_.created_at()) create_ns_ = static_cast<double>(*created - before);
  return static_cast<double>(after - before);
}

double LiveBlocks::free_at(size_t index) {
  const Block block = blocks_[index];
  const int64_t before = now_ns();
  const CUresult code = allocator_.release(block);
  const int64_t after = now_ns();
  if (index == 0) {
    blocks_.pop_front();
  } else {
    blocks_[index] = blocks_.back();
    blocks_.pop_back();
  }
  cuda_.check(code, allocator_.failed_call(), "freeing device memory");
  allocator_.retire(block);
  return static_cast<double>(after - before);
}

size_t LiveBlocks::next(FreeOrder order, std::mt19937_64& random) const {
  if (order == FreeOrder::kFifo) return 0;
  if (order == FreeOrder::kLifo) return size() - 1;
  return std::uniform_int_distribution<size_t>(0, size() - 1)(random);
}

void LiveBlocks::resize(size_t count, const CancelToken& token) {
  while (blocks_.size() != count) {
    token.check();
    if (blocks_.size() < count)
      allocate();
    else
      free_at(0);
  }
}

std::vector<abi::CUdeviceptr> LiveBlocks::pointers() const {
  std::vector<abi::CUdeviceptr> pointers;
  for (const Block& block : blocks_) pointers.push_back(block.pointer);
  return pointers;
}

void LiveBlocks::verify(size_t bytes, std::mt19937_64& random) const {
  constexpr unsigned kSampled = 8;
  check_disjoint(pointers(), bytes);
  if (blocks_.empty()) return;
  for (unsigned i = 0; i < kSampled; ++i)
    verify_block(cuda_, pointer_at(next(FreeOrder::kRandom, random)), bytes, nullptr);
}

}  // namespace gvb
