#include "bench/checkpoint_target.h"

#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "bench/kernel_chain.h"
#include "bench/llm/checksum.h"
#include "bench/llm/normal.h"

namespace gvb {

namespace {

constexpr unsigned kProbeWords = 256, kMixFactor = 2654435761u;
constexpr uint64_t kTargetWord = sizeof(uint32_t);

struct TargetBlock {
  DeviceMemory memory;
  uint64_t bytes;
  uint64_t checksum;
};

// Words that gvb_mix wrote with a seed, and whether they are right.
class ProbeWords {
 public:
  explicit ProbeWords(const Cuda& cuda) : cuda_(cuda), memory_(make_memory(cuda, kProbeWords * kTargetWord)) {}

  void clear() const {
    GVB_CALL(cuda_, "clearing the words of a probe", cuMemsetD32_v2, memory_.get(), 0, kProbeWords);
  }
  bool holds(unsigned seed) const {
    std::array<uint32_t, kProbeWords> words{};
    GVB_CALL(cuda_, "reading the words of a probe", cuMemcpyDtoH_v2, words.data(), memory_.get(), sizeof words);
    for (unsigned i = 0; i < kProbeWords; ++i)
      if (words[i] != (i + seed) * kMixFactor) return false;
    return true;
  }
  abi::CUdeviceptr address() const { return memory_.get(); }

 private:
  const Cuda& cuda_;
  const DeviceMemory memory_;
};

// The arguments of gvb_mix.
struct MixArguments {
  abi::CUdeviceptr words;
  unsigned count = kProbeWords;
  unsigned seed;
  void* pointers[3] = {&words, &count, &seed};

  MixArguments(const ProbeWords& probe, unsigned with) : words(probe.address()), seed(with) {}
  MixArguments(const MixArguments&) = delete;
  MixArguments& operator=(const MixArguments&) = delete;
};

class HeldTarget {
 public:
  HeldTarget(DeviceSession& session, const CheckpointHoldRequest& request)
      : session_(session),
        cuda_(session.cuda),
        seed_(static_cast<unsigned>(getpid())),
        stream_(make_stream(cuda_)),
        event_(make_event(cuda_)),
        probe_(cuda_),
        stamps_(make_memory(cuda_, 2 * sizeof(uint64_t))),
        mix_(session.module.function("gvb_mix")),
        of_graph_(probe_, seed_),
        graph_(cuda_, mix_, ChainShape{1, kProbeWords}, of_graph_.pointers) {
    fill(request);
  }

  CheckpointHold size() const {
    CheckpointHold held;
    for (const TargetBlock& block : blocks_) held.bytes += block.bytes;
    held.allocations = static_cast<unsigned>(blocks_.size());
    return held;
  }

  CheckpointVerified verify() {
    CheckpointVerified verified;
    const int64_t called = now_ns();
    const bool first = first_result();
    verified.first_result_ns = static_cast<double>(now_ns() - called);
    verified.stream = first && works([&] { return stream_works(); });
    verified.event = works([&] { return event_works(); });
    verified.graph = works([&] { return graph_works(); });
    verified.addresses = works([&] { return addresses_hold(); });
    verified.checksums = works([&] { return checksums_hold(); });
    return verified;
  }

  CheckpointWork submit(const CheckpointWorkRequest& request) {
    uint64_t spin_ns = uint64_t{request.ms} * 1'000'000;
    abi::CUdeviceptr stamps = stamps_.get(), blocks = 0;
    void* parameters[] = {&stamps, &spin_ns, &blocks};
    CheckpointWork work;
    work.estimated_ns = static_cast<double>(spin_ns);
    work.submitted_ns = now_ns();
    GVB_CALL(cuda_, "submitting work before a lock", cuLaunchKernel, session_.module.function("gvb_occupy"), 1, 1, 1,
             32, 1, 1, 0, stream_.get(), parameters, nullptr);
    return work;
  }

 private:
  void fill(const CheckpointHoldRequest& request) {
    const uint64_t words = request.bytes / kTargetWord;
    for (unsigned i = 0; i < request.allocations; ++i) {
      session_.token.check();
      // The first ones take what is left over.
      const uint64_t of_block = words / request.allocations + (i < words % request.allocations ? 1 : 0);
      if (of_block == 0) break;
      blocks_.push_back({make_memory(cuda_, of_block * kTargetWord), of_block * kTargetWord, 0});
      fill_normal(session_, stream_.get(),
                  {blocks_.back().memory.get(), of_block, Number::kF32, uint64_t{seed_} << 32 | i});
    }
    GVB_CALL(cuda_, "waiting for a fill", cuStreamSynchronize, stream_.get());
    for (TargetBlock& block : blocks_) block.checksum = checksum_now(block);
  }

  uint64_t checksum_now(const TargetBlock& block) const {
    return checksum_of(session_, {block.memory.get(), block.bytes});
  }

  // A call that fails says that its object is lost.
  template <class Test>
  static bool works(const Test& test) {
    try {
      return test();
    } catch (const CallFailure&) {
      return false;
    }
  }

  void mix(MixArguments& arguments, abi::CUstream stream) const {
    GVB_CALL(cuda_, "launching a probe", cuLaunchKernel, mix_, 1, 1, 1, kProbeWords, 1, 1, 0, stream,
             arguments.pointers, nullptr);
  }

  // Launched without any other call before it, so that its time is that of a program that goes on.
  bool first_result() {
    MixArguments arguments(probe_, ++seed_);
    mix(arguments, stream_.get());
    GVB_CALL(cuda_, "waiting for a first result", cuStreamSynchronize, stream_.get());
    return probe_.holds(seed_);
  }

  bool stream_works() const {
    GVB_CALL(cuda_, "asking for the stream's state", cuStreamQuery, stream_.get());
    return true;
  }

  bool event_works() const {
    GVB_CALL(cuda_, "recording an event", cuEventRecord, event_.get(), stream_.get());
    GVB_CALL(cuda_, "waiting for an event", cuEventSynchronize, event_.get());
    GVB_CALL(cuda_, "asking for an event's state", cuEventQuery, event_.get());
    return true;
  }

  bool graph_works() const {
    probe_.clear();
    GVB_CALL(cuda_, "launching a graph", cuGraphLaunch, graph_.executable(), stream_.get());
    GVB_CALL(cuda_, "waiting for a graph", cuStreamSynchronize, stream_.get());
    return probe_.holds(of_graph_.seed);
  }

  bool addresses_hold() const {
    for (const TargetBlock& block : blocks_) {
      abi::CUdeviceptr begin = 0;
      size_t bytes = 0;
      GVB_CALL(cuda_, "asking for an allocation", cuMemGetAddressRange_v2, &begin, &bytes, block.memory.get());
      if (begin != block.memory.get() || bytes < block.bytes) return false;
    }
    return true;
  }

  bool checksums_hold() const {
    for (const TargetBlock& block : blocks_)
      if (checksum_now(block) != block.checksum) return false;
    return true;
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  unsigned seed_;
  const Stream stream_;
  const Event event_;
  const ProbeWords probe_;
  const DeviceMemory stamps_;
  const abi::CUfunction mix_;
  MixArguments of_graph_;
  const KernelChain graph_;
  std::vector<TargetBlock> blocks_;
};

struct KeptTarget {
  explicit KeptTarget(DeviceSession&) {}
  std::optional<HeldTarget> held;
};

HeldTarget& held_target(DeviceSession& session) {
  auto& held = session.kept<KeptTarget>().held;
  if (!held)
    throw Failure(FailureKind::kInvalidResult,
                  "this process holds nothing for a checkpoint: call checkpointHold before.");
  return *held;
}

}  // namespace

CheckpointHold hold_for_checkpoint(DeviceSession& session, const CheckpointHoldRequest& request) {
  auto& held = session.kept<KeptTarget>().held;
  held.reset();
  held.emplace(session, request);
  return held->size();
}

CheckpointVerified verify_after_checkpoint(DeviceSession& session) { return held_target(session).verify(); }

CheckpointWork submit_checkpoint_work(DeviceSession& session, const CheckpointWorkRequest& request) {
  return held_target(session).submit(request);
}

CheckpointHold release_after_checkpoint(DeviceSession& session) {
  const CheckpointHold held = held_target(session).size();
  GVB_CALL(session.cuda, "waiting for work", cuCtxSynchronize);
  session.kept<KeptTarget>().held.reset();
  return held;
}

}  // namespace gvb
