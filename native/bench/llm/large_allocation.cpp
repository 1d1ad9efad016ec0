#include "bench/llm/large_allocation.h"

#include <random>

#include "base/clock.h"
#include "bench/live_blocks.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUresult;

namespace {

constexpr unsigned kPlacesInside = 14;

class LargeBlock {
 public:
  explicit LargeBlock(DeviceSession& session) : session_(session), cuda_(session.cuda) {}

  LargeAllocation allocate(const LargeAllocationRequest& request) {
    blocks_.reset();
    allocator_.reset();
    LargeAllocation made;
    const size_t granularity = allocation_granularity(session_);
    made.bytes = request.api == AllocationApi::kMemCreate
                     ? (request.bytes + granularity - 1) / granularity * granularity
                     : request.bytes;
    allocator_ = make_allocator(session_, request.api, made.bytes, nullptr);
    blocks_ = std::make_unique<LiveBlocks>(cuda_, *allocator_);
    made.alloc_ns = blocks_->allocate();
    made.create_ns = blocks_->create_ns();
    const std::vector<CUdeviceptr> places = places_in(made.bytes, request);
    mark(places);
    made.touch_ns = fill(made.bytes);
    check_filled(places);
    verify_block(session_.cuda, blocks_->newest(), made.bytes, nullptr);
    return made;
  }

  LargeFree free() {
    if (!blocks_ || blocks_->size() == 0) throw std::logic_error("unreachable: a block is freed that was allocated");
    return {blocks_->free_at(0)};
  }

 private:
  // Both ends, and places that cannot be known in advance.
  std::vector<CUdeviceptr> places_in(size_t bytes, const LargeAllocationRequest& request) const {
    const CUdeviceptr block = blocks_->newest();
    std::mt19937_64 random(request.seed);
    std::uniform_int_distribution<size_t> word(0, bytes / sizeof(unsigned) - 1);
    std::vector<CUdeviceptr> places = {block, block + bytes - sizeof(unsigned)};
    for (unsigned i = 0; i < kPlacesInside; ++i) places.push_back(block + word(random) * sizeof(unsigned));
    return places;
  }

  void written(CUresult code, const char* call) const {
    if (code == abi::CUDA_SUCCESS) return;
    throw Failure(FailureKind::kInvalidResult, "A large allocation succeeded but cannot be written: " +
                                                   std::string(call) + " returned " + cuda_.error_name(code) + ".");
  }

  void mark(const std::vector<CUdeviceptr>& places) const {
    const auto set = cuda_.require(cuda_.api.cuMemsetD32_v2, "cuMemsetD32_v2");
    for (const CUdeviceptr place : places) written(set(place, 0x9e3779b9, 1), "cuMemsetD32_v2");
    GVB_CALL(cuda_, "marking an allocation", cuCtxSynchronize);
  }

  double fill(size_t bytes) const {
    const auto set = cuda_.require(cuda_.api.cuMemsetD8_v2, "cuMemsetD8_v2");
    const auto synchronise = cuda_.require(cuda_.api.cuCtxSynchronize, "cuCtxSynchronize");
    const int64_t began = now_ns();
    const CUresult set_code = set(blocks_->newest(), 0, bytes);
    const CUresult over = synchronise();
    const int64_t ended = now_ns();
    written(set_code, "cuMemsetD8_v2");
    cuda_.check(over, "cuCtxSynchronize", "filling an allocation");
    return static_cast<double>(ended - began);
  }

  void check_filled(const std::vector<CUdeviceptr>& places) const {
    for (const CUdeviceptr place : places) {
      unsigned word = ~0u;
      GVB_CALL(cuda_, "reading a filled allocation", cuMemcpyDtoH_v2, &word, place, sizeof word);
      if (word != 0)
        throw Failure(FailureKind::kInvalidResult,
                      "cuMemsetD8 reported success but did not fill the allocation: a word of it is not zero.");
    }
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<LiveBlocks> blocks_;  // must be destroyed before the allocator
};

}  // namespace

LargeAllocation allocate_large(DeviceSession& session, const LargeAllocationRequest& request) {
  return session.kept<LargeBlock>().allocate(request);
}

LargeFree free_large(DeviceSession& session) { return session.kept<LargeBlock>().free(); }

}  // namespace gvb
