#include "bench/memory_latency.h"

#include <random>

#include "bench/driver_alone.h"
#include "bench/gpu_state.h"

namespace gvb {

using abi::CUdeviceptr;

namespace {

size_t block_bytes(const DeviceSession& session, AllocationApi api, size_t requested) {
  const size_t granularity = allocation_granularity(session);
  if (requested == 0) return granularity;
  return api == AllocationApi::kMemCreate ? (requested + granularity - 1) / granularity * granularity : requested;
}

}  // namespace

AllocationBlock measure_allocations(DeviceSession& owner, const AllocationRequest& request) {
  DeviceSession& session = request.bare ? driver_alone(owner, request.api) : owner;
  AllocationBlock block;
  block.bytes = block_bytes(session, request.api, request.bytes);
  block.live = request.live;
  const Stream stream = make_stream(session.cuda);
  const auto allocator = make_allocator(session, request.api, block.bytes, stream.get());
  LiveBlocks blocks(session.cuda, *allocator);
  block.used_before = used_bytes(session);
  blocks.resize(request.live, session.token);
  block.used_live = used_bytes(session);
  for (unsigned i = 0; i < request.warmup + request.count; ++i) {
    session.token.check();
    const double allocated = blocks.allocate();
    const std::optional<double> created = blocks.create_ns();
    verify_block(session.cuda, blocks.newest(), block.bytes, stream.get());
    check_disjoint(blocks.pointers(), block.bytes);
    const double freed = blocks.free_at(0);
    if (i < request.warmup) continue;
    block.alloc_ns.push_back(allocated);
    if (created) block.create_ns.push_back(*created);
    block.free_ns.push_back(freed);
  }
  return block;
}

FreeBlock measure_frees(DeviceSession& session, const FreeRequest& request) {
  FreeBlock block;
  block.bytes = block_bytes(session, AllocationApi::kMemAlloc, request.bytes);
  block.live = request.live;
  const Cuda& cuda = session.cuda;
  block.used_before = used_bytes(session);
  {
    const auto allocator = make_allocator(session, AllocationApi::kMemAlloc, block.bytes, nullptr);
    LiveBlocks blocks(cuda, *allocator);
    blocks.resize(request.live, session.token);
    std::mt19937_64 random(request.seed);
    blocks.verify(block.bytes, random);
    for (unsigned i = 0; i < request.warmup + request.count; ++i) {
      session.token.check();
      const size_t index = blocks.next(request.order, random);
      // A free may synchronise; with an idle context that costs nothing in the sample.
      GVB_CALL(cuda, "idling the context", cuCtxSynchronize);
      const double freed = blocks.free_at(index);
      blocks.allocate();
      if (i >= request.warmup) block.free_ns.push_back(freed);
    }
    blocks.verify(block.bytes, random);
  }
  block.used_after = used_bytes(session);
  return block;
}

DriverCode measure_double_free(DeviceSession& session) {
  const Cuda& cuda = session.cuda;
  CUdeviceptr pointer = 0;
  GVB_CALL(cuda, "allocating device memory", cuMemAlloc_v2, &pointer, allocation_granularity(session));
  GVB_CALL(cuda, "freeing device memory", cuMemFree_v2, pointer);
  const abi::CUresult code = cuda.api.cuMemFree_v2(pointer);
  return {code, cuda.error_name(code)};
}

}  // namespace gvb
