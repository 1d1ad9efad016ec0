#include "bench/llm/kv_pages.h"

#include <memory>

#include "base/clock.h"
#include "bench/blocks.h"
#include "bench/driver_alone.h"
#include "bench/gpu_state.h"
#include "bench/llm/block_ends.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUresult;

namespace {

AllocationApi api_of(PageMode mode) {
  return mode == PageMode::kVirtual ? AllocationApi::kMemCreate : AllocationApi::kAllocAsync;
}

class ReservedAddresses {
 public:
  ReservedAddresses(const Cuda& cuda, size_t bytes) : cuda_(cuda), bytes_(bytes) {
    cuda_.require(cuda_.api.cuMemAddressFree, "cuMemAddressFree");
    GVB_CALL(cuda_, "reserving addresses", cuMemAddressReserve, &begin_, bytes_, 0, 0, 0);
  }
  ~ReservedAddresses() { cuda_.try_call(cuda_.api.cuMemAddressFree, begin_, bytes_); }
  ReservedAddresses(const ReservedAddresses&) = delete;
  ReservedAddresses& operator=(const ReservedAddresses&) = delete;
  CUdeviceptr begin() const { return begin_; }

 private:
  const Cuda& cuda_;
  const size_t bytes_;
  CUdeviceptr begin_ = 0;
};

// The committed pages; freed on every way out.
class CommittedPages {
 public:
  CommittedPages(DeviceSession& session, const PageRoundsRequest& request, size_t page_bytes, abi::CUstream stream)
      : session_(session),
        count_(request.pages),
        page_bytes_(page_bytes),
        stream_(stream),
        ends_(session, request.pages, stream),
        addresses_(request.mode == PageMode::kVirtual
                       ? std::make_unique<ReservedAddresses>(session.cuda, count_ * page_bytes)
                       : nullptr) {
    allocator_ = make_allocator(session, api_of(request.mode), page_bytes, stream);
    committed_.reserve(count_);
  }
  ~CommittedPages() {
    session_.cuda.try_call(session_.cuda.api.cuStreamSynchronize, stream_);
    for (const Block& page : committed_) allocator_->release(page);
  }
  CommittedPages(const CommittedPages&) = delete;
  CommittedPages& operator=(const CommittedPages&) = delete;

  void round(PageRounds& rounds, bool is_last) {
    commit(rounds);
    if (is_last) rounds.used_live = used_bytes(session_);
    verify();
    release(rounds);
  }

 private:
  void commit(PageRounds& rounds) {
    const int64_t began = now_ns();
    int64_t before = began;
    while (committed_.size() < count_) {
      Block page;
      if (addresses_) page.pointer = addresses_->begin() + committed_.size() * page_bytes_;
      const CUresult code = allocator_->allocate(page);
      const int64_t after = now_ns();
      session_.cuda.check(code, allocator_->failed_call(), "committing a page", page_bytes_);
      committed_.push_back(page);
      rounds.page_ns.push_back(static_cast<double>(after - before));
      if (const auto created = allocator_->created_at())
        rounds.create_ns.push_back(static_cast<double>(*created - before));
      before = after;
    }
    rounds.commit_ns.push_back(static_cast<double>(before - began));
  }
  void verify() {
    std::vector<CUdeviceptr> pointers;
    for (const Block& page : committed_) pointers.push_back(page.pointer);
    ends_.verify(pointers, page_bytes_);
  }
  void release(PageRounds& rounds) {
    const int64_t began = now_ns();
    while (!committed_.empty()) {
      const Block page = committed_.back();
      committed_.pop_back();
      session_.cuda.check(allocator_->release(page), allocator_->failed_call(), "releasing a page");
    }
    rounds.release_ns.push_back(static_cast<double>(now_ns() - began));
  }

  DeviceSession& session_;
  const size_t count_, page_bytes_;
  const abi::CUstream stream_;
  BlockEnds ends_;
  const std::unique_ptr<const ReservedAddresses> addresses_;
  std::unique_ptr<Allocator> allocator_;
  std::vector<Block> committed_;
};

}  // namespace

PageRounds measure_page_rounds(DeviceSession& owner, const PageRoundsRequest& request) {
  DeviceSession& session = request.bare ? driver_alone(owner, api_of(request.mode)) : owner;
  if (request.mode == PageMode::kVirtual)
    require_attribute(session, abi::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                      "virtual memory management");
  else
    require_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, "memory pools");
  PageRounds rounds;
  rounds.page_bytes = allocation_granularity(session);
  rounds.page_ns.reserve(size_t{request.rounds} * request.pages);
  if (request.mode == PageMode::kVirtual) rounds.create_ns.reserve(rounds.page_ns.capacity());
  rounds.used_before = used_bytes(session);
  {
    const Stream stream = make_stream(session.cuda);
    CommittedPages pages(session, request, rounds.page_bytes, stream.get());
    PageRounds untimed;
    pages.round(untimed, false);
    for (unsigned i = 0; i < request.rounds; ++i) {
      session.token.check();
      pages.round(rounds, i + 1 == request.rounds);
    }
  }
  rounds.used_after = used_bytes(session);
  return rounds;
}

}  // namespace gvb
