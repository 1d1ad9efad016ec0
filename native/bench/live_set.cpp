#include "bench/live_set.h"

#include <random>

#include "base/clock.h"
#include "bench/gpu_state.h"
#include "bench/live_blocks.h"
#include "bench/on_core.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUresult;

namespace {

class Cells {
 public:
  Cells(DeviceSession& session, const LiveSetRequest& request)
      : session_(session),
        request_(request),
        random_(request.seed),
        allocator_(make_allocator(session, AllocationApi::kMemAlloc, request.bytes, nullptr)),
        blocks_(session.cuda, *allocator_),
        pointers_(request.queries),
        query_(request.queries == 0
                   ? nullptr
                   : session.cuda.require(session.cuda.api.cuPointerGetAttribute, "cuPointerGetAttribute")) {}

  LiveSetCell measure(uint64_t live) {
    LiveSetCell cell;
    cell.live = live;
    cell.used_before = used_bytes(session_);
    blocks_.resize(live, session_.token);
    cell.used_live = used_bytes(session_);
    blocks_.verify(request_.bytes, random_);
    for (unsigned i = 0; i < request_.warmup + request_.count; ++i) {
      session_.token.check();
      const double allocated = blocks_.allocate();
      const double queried = query_ ? query() : 0;
      const double freed = blocks_.free_at(any());
      if (i < request_.warmup) continue;
      cell.alloc_ns.push_back(allocated);
      cell.free_ns.push_back(freed);
      if (query_) cell.query_ns.push_back(queried);
    }
    blocks_.verify(request_.bytes, random_);
    blocks_.resize(0, session_.token);
    cell.used_after = used_bytes(session_);
    return cell;
  }

 private:
  size_t any() { return blocks_.next(FreeOrder::kRandom, random_); }

  double query() {
    for (CUdeviceptr& pointer : pointers_) pointer = blocks_.pointer_at(any());
    int type = 0;
    CUresult codes = abi::CUDA_SUCCESS;
    const int64_t before = now_ns();
    for (const CUdeviceptr pointer : pointers_) {
      const CUresult code = query_(&type, abi::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
      if (code != abi::CUDA_SUCCESS) codes = code;
    }
    const int64_t after = now_ns();
    session_.cuda.check(codes, "cuPointerGetAttribute", "looking at a live block");
    return static_cast<double>(after - before) / request_.queries;
  }

  DeviceSession& session_;
  const LiveSetRequest& request_;
  std::mt19937_64 random_;
  const std::unique_ptr<Allocator> allocator_;
  LiveBlocks blocks_;
  std::vector<CUdeviceptr> pointers_;
  decltype(CudaApi::cuPointerGetAttribute) query_;
};

}  // namespace

std::vector<LiveSetCell> measure_live_sets(DeviceSession& session, const LiveSetRequest& request) {
  Cells cells(session, request);
  const OnCore core(request.core);
  std::vector<LiveSetCell> measured;
  for (const uint64_t live : request.lives) measured.push_back(cells.measure(live));
  return measured;
}

}  // namespace gvb
