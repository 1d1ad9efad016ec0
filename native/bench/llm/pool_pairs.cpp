#include "bench/llm/pool_pairs.h"

#include "bench/driver_alone.h"
#include "bench/gpu_state.h"
#include "bench/live_blocks.h"
#include "bench/llm/block_ends.h"

namespace gvb {

namespace {

// Reads the state of the default pool before and after `use`; everything `use` created is freed by then.
template <class Result, class Use>
Result between_pool_states(const DeviceSession& session, Result result, const Use& use) {
  require_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, "memory pools");
  const abi::CUmemoryPool pool = default_pool(session);
  result.before = pool_state(session.cuda, pool);
  use(result);
  result.after = pool_state(session.cuda, pool);
  return result;
}

}  // namespace

PoolPairs measure_pool_pairs(DeviceSession& owner, const PoolPairsRequest& request) {
  DeviceSession& session = request.bare ? driver_alone(owner, request.api) : owner;
  return between_pool_states(session, PoolPairs(), [&](PoolPairs& pairs) {
    pairs.used_before = used_bytes(session);
    const Stream stream = make_stream(session.cuda);
    const auto allocator = make_allocator(session, request.api, request.bytes, stream.get());
    if (request.warm_bytes > 0) warm_pool(session.cuda, request.warm_bytes, stream.get());
    BlockEnds ends(session, 1, stream.get());
    LiveBlocks blocks(session.cuda, *allocator);
    for (unsigned i = 0; i < request.warmup + request.count; ++i) {
      session.token.check();
      const double allocated = blocks.allocate();
      // Waits for the stream, so that the free finds it idle, whatever the size.
      ends.verify(blocks.pointers(), request.bytes);
      const double freed = blocks.free_at(0);
      if (i < request.warmup) continue;
      pairs.alloc_ns.push_back(allocated);
      pairs.free_ns.push_back(freed);
    }
    pairs.used_warm = used_bytes(session);
  });
}

PoolRefusal ask_pool_for(DeviceSession& session, const PoolRefusalRequest& request) {
  return between_pool_states(session, PoolRefusal(), [&](PoolRefusal& refusal) {
    const Cuda& cuda = session.cuda;
    const Stream stream = make_stream(cuda);
    const auto allocator = make_allocator(session, request.api, request.bytes, stream.get());
    Block block;
    refusal.code = allocator->allocate(block);
    refusal.granted = refusal.code == abi::CUDA_SUCCESS;
    if (refusal.granted) {
      // A stream-ordered allocation may fail only here.
      refusal.code = cuda.require(cuda.api.cuStreamSynchronize, "cuStreamSynchronize")(stream.get());
      const abi::CUresult freed = allocator->release(block);
      if (refusal.code == abi::CUDA_SUCCESS)
        cuda.check(freed, allocator->failed_call(), "freeing what should have been refused");
      refusal.granted = refusal.code == abi::CUDA_SUCCESS;
    }
    refusal.name = cuda.error_name(refusal.code);
  });
}

}  // namespace gvb
