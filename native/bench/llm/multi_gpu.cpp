#include "bench/llm/multi_gpu.h"

#include <map>

#include "base/wait.h"
#include "bench/llm/sharded_block.h"

namespace gvb {

namespace {

constexpr uint64_t kMeetingNumbers = 8;

// Blocks by the number of ranks in the communicator.
struct KeptBlocks {
  explicit KeptBlocks(const DeviceSession&) {}
  std::map<unsigned, std::unique_ptr<ShardedBlock>> blocks;
};

ShardedBlock& kept_block(DeviceSession& session, unsigned ranks) {
  const auto& blocks = session.kept<KeptBlocks>().blocks;
  const auto found = blocks.find(ranks);
  if (found == blocks.end())
    throw Failure(FailureKind::kInvalidResult, "steps were asked for before a block was prepared.");
  return *found->second;
}

class Steps {
 public:
  Steps(DeviceSession& session, const StepsRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        ranks_(session.kept<Ranks>()),
        block_(kept_block(session, request.ranks)),
        stream_(make_stream(cuda_)),
        begin_(make_event(cuda_)),
        end_(make_event(cuda_)),
        meeting_(make_memory(cuda_, 2 * kMeetingNumbers * sizeof(uint16_t))) {}

  StepTimes run() {
    if (request_.kind == StepKind::kBlock) block_.poison();
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    let_others_begin();
    StepTimes out;
    out.failure = meet();
    if (!out.failure.empty()) return out;
    const int64_t began = now_ns();
    GVB_CALL(cuda_, "recording an event", cuEventRecord, begin_.get(), stream_.get());
    for (unsigned step = 0; step < request_.steps && out.failure.empty(); ++step) out.failure = one_step();
    if (!out.failure.empty()) return out;
    GVB_CALL(cuda_, "recording an event", cuEventRecord, end_.get(), stream_.get());
    synchronise();
    const int64_t ended = now_ns();
    if (request_.ranks > 1) out.failure = ranks_.asynchronous_failure();
    float ms = 0;
    GVB_CALL(cuda_, "timing steps", cuEventElapsedTime, &ms, begin_.get(), end_.get());
    out.began_ns = static_cast<double>(began - request_.start_at_ns);
    out.ended_ns = static_cast<double>(ended - request_.start_at_ns);
    out.device_ns = double{ms} * 1e6;
    if (request_.kind == StepKind::kBlock) block_.check_steps();
    return out;
  }

 private:
  void synchronise() const { GVB_CALL(cuda_, "waiting for steps", cuStreamSynchronize, stream_.get()); }

  // Ranks that start together begin once the last of them has joined.
  std::string meet() const {
    if (request_.ranks == 1) return "";
    const abi::CUdeviceptr to = meeting_.get() + kMeetingNumbers * sizeof(uint16_t);
    std::string failure = ranks_.reduce({meeting_.get(), to, kMeetingNumbers}, stream_.get());
    if (failure.empty()) synchronise();
    return failure;
  }

  std::string one_step() {
    session_.token.check();
    return request_.kind == StepKind::kBlock ? block_.step(ranks_, stream_.get())
                                             : block_.reduce(ranks_, stream_.get());
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  const StepsRequest& request_;
  const Ranks& ranks_;
  ShardedBlock& block_;
  const Stream stream_;
  const Event begin_, end_;
  const DeviceMemory meeting_;
};

}  // namespace

PreparedShard prepare_shard(DeviceSession& session, const ShardRequest& request) {
  auto& blocks = session.kept<KeptBlocks>().blocks;
  blocks.erase(request.ranks);
  const BlockShape shape{request.tokens, request.hidden, request.mlp};
  const Shard shard{request.ranks, request.rank};
  auto block = std::make_unique<ShardedBlock>(session, shape, shard, request.seed);
  PreparedShard out;
  out.variant = block->variant();
  out.flops = block->flops();
  out.weight_bytes = block->weight_bytes();
  out.reduced_bytes = block->reduced_bytes();
  blocks.emplace(request.ranks, std::move(block));
  return out;
}

StepTimes run_steps(DeviceSession& session, const StepsRequest& request) { return Steps(session, request).run(); }

BlockSample sample_block(DeviceSession& session, const SampleRequest& request) {
  const ShardSample sample = kept_block(session, request.ranks).sample(request.seed);
  if (!(sample.worst_allowed <= 1))
    throw Failure(FailureKind::kInvalidResult,
                  "a call reported success without doing its work: a product of a block in " +
                      std::to_string(request.ranks) + " shards differs from double precision by " +
                      std::to_string(sample.worst_allowed) + " times what its rounding allows.");
  return {sample.elements, sample.worst_allowed, sample.parts, sample.sums};
}

}  // namespace gvb
