#include "bench/memory_latency.h"

#include <deque>
#include <random>

#include "bench/gpu_state.h"
#include "driver/clock.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUresult;

namespace {

// Live blocks that are given back, untimed, on every way out.
class LiveBlocks {
 public:
  LiveBlocks(const Cuda& cuda, Allocator& allocator) : cuda_(cuda), allocator_(allocator) {}
  ~LiveBlocks() {
    for (const Block& block : blocks_) {
      allocator_.release(block);
      allocator_.retire(block);
    }
  }

  double allocate() {
    Block block = allocator_.prepare();
    const int64_t before = now_ns();
    const CUresult code = allocator_.allocate(block);
    const int64_t after = now_ns();
    if (code != abi::CUDA_SUCCESS) allocator_.retire(block);
    cuda_.check(code, allocator_.failed_call(), "allocating device memory");
    blocks_.push_back(block);
    return static_cast<double>(after - before);
  }

  double free_at(size_t index) {
    const Block block = blocks_[index];
    const int64_t before = now_ns();
    const CUresult code = allocator_.release(block);
    const int64_t after = now_ns();
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    cuda_.check(code, allocator_.failed_call(), "freeing device memory");
    allocator_.retire(block);
    return static_cast<double>(after - before);
  }

  // The newest block takes the place of `index`, so that a random victim is of random age.
  void replace_at(size_t index) {
    allocate();
    std::swap(blocks_[index], blocks_.back());
  }

  CUdeviceptr newest() const { return blocks_.back().pointer; }
  size_t size() const { return blocks_.size(); }

 private:
  const Cuda& cuda_;
  Allocator& allocator_;
  std::deque<Block> blocks_;
};

size_t block_bytes(const DeviceSession& session, AllocationApi api, size_t requested) {
  const size_t granularity = allocation_granularity(session);
  if (requested == 0) return granularity;
  return api == AllocationApi::kMemCreate ? (requested + granularity - 1) / granularity * granularity : requested;
}

size_t victim(FreeOrder order, size_t live, std::mt19937_64& random) {
  if (order == FreeOrder::kFifo) return 0;
  if (order == FreeOrder::kLifo) return live - 1;
  return std::uniform_int_distribution<size_t>(0, live - 1)(random);
}

}  // namespace

AllocationBlock measure_allocations(DeviceSession& session, const AllocationRequest& request) {
  AllocationBlock block{block_bytes(session, request.api, request.bytes), request.live, {}, {}};
  const Stream stream = make_stream(session.cuda);
  const auto allocator = make_allocator(session, request.api, block.bytes, stream.get());
  LiveBlocks blocks(session.cuda, *allocator);
  while (blocks.size() < request.live) {
    session.token.check();
    blocks.allocate();
  }
  for (unsigned i = 0; i < request.warmup + request.count; ++i) {
    session.token.check();
    const double allocated = blocks.allocate();
    verify_block(session, blocks.newest(), block.bytes, stream.get());
    const double freed = blocks.free_at(0);
    if (i < request.warmup) continue;
    block.alloc_ns.push_back(allocated);
    block.free_ns.push_back(freed);
  }
  return block;
}

FreeBlock measure_frees(DeviceSession& session, const FreeRequest& request) {
  FreeBlock block{block_bytes(session, AllocationApi::kMemAlloc, request.bytes), request.live, {}, {}, {}};
  const Cuda& cuda = session.cuda;
  block.used_before = used_bytes(session);
  {
    const auto allocator = make_allocator(session, AllocationApi::kMemAlloc, block.bytes, nullptr);
    LiveBlocks blocks(cuda, *allocator);
    while (blocks.size() < request.live) {
      session.token.check();
      blocks.allocate();
    }
    std::mt19937_64 random(request.seed);
    for (unsigned i = 0; i < request.warmup + request.count; ++i) {
      session.token.check();
      const size_t index = victim(request.order, blocks.size(), random);
      // A free may synchronise: an idle context keeps that out of the sample.
      GVB_CALL(cuda, "idling the context", cuCtxSynchronize);
      const double freed = blocks.free_at(index);
      if (request.order == FreeOrder::kRandom && index < blocks.size())
        blocks.replace_at(index);
      else
        blocks.allocate();
      if (i >= request.warmup) block.free_ns.push_back(freed);
    }
  }
  block.used_after = used_bytes(session);
  return block;
}

CUresult measure_double_free(DeviceSession& session) {
  const Cuda& cuda = session.cuda;
  CUdeviceptr pointer = 0;
  GVB_CALL(cuda, "allocating device memory", cuMemAlloc_v2, &pointer, allocation_granularity(session));
  GVB_CALL(cuda, "freeing device memory", cuMemFree_v2, pointer);
  return cuda.api.cuMemFree_v2(pointer);
}

}  // namespace gvb
