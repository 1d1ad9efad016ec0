#include "test/emulator/grid.h"

#include <algorithm>
#include <cstring>

namespace gvb::emulator {
namespace {

Cluster* active = nullptr;
Thread* running = nullptr;  // null while asynchronous work of the hardware is done

// Fills registers and memory that were never written: NaN in every format.
constexpr unsigned char kPoison = 0xff;

struct Stopped {};

unsigned volume(const Index& index) { return index.x * index.y * index.z; }

Index index_of(unsigned rank, const Index& extent) {
  return {rank % extent.x, rank / extent.x % extent.y, rank / extent.x / extent.y};
}

}  // namespace

Thread& current() { return *running; }
Cluster& cluster() { return *active; }

Thread::Thread(Block& its_block, unsigned its_rank, Index its_index)
    : block(its_block), rank(its_rank), index(its_index), fibre_([this] { block.cluster.body(*this); }) {}

Block::Block(Cluster& its_cluster, const Launch& launch, unsigned its_rank)
    : cluster(its_cluster), rank(its_rank), shared_(launch.shared_bytes) {
  const unsigned count = volume(launch.block);
  for (unsigned i = 0; i < count; ++i) threads.push_back(std::make_unique<Thread>(*this, i, index_of(i, launch.block)));
  warps_.resize((count + kWarp - 1) / kWarp);
  warpgroups_.resize((count + kWarpgroup - 1) / kWarpgroup);
}

SharedMemory::SharedMemory(size_t bytes)
    : size_(bytes), bytes_(static_cast<unsigned char*>(::operator new[](bytes, kAlignment))) {}

void Block::start(Index at) {
  index = at;
  std::memset(shared_.data(), kPoison, shared_.size());
  for (Barrier& barrier : barriers) barrier = {};
}

Block::Meeting& Block::meeting(unsigned size, unsigned which) {
  Meeting& meeting = size == kWarp ? warps_[which] : warpgroups_[which];
  meeting.operands.resize(size);
  return meeting;
}

Cluster::Cluster(const Launch& its_launch, const std::function<void()>& its_kernel)
    : launch(its_launch), kernel(its_kernel), random(its_launch.seed) {
  for (unsigned i = 0; i < launch.cluster; ++i) blocks.push_back(std::make_unique<Block>(*this, launch, i));
}

void Cluster::body(Thread& thread) {
  for (;;) {
    try {
      kernel();
    } catch (const Stopped&) {
      // The scheduler reports it, because an exception cannot pass from one stack to another.
    }
    thread.done_ = true;
    thread.fibre_.suspend();
  }
}

void Cluster::wait(const std::function<bool()>& ready, const char* what) {
  Thread& thread = current();
  while (!ready()) {
    thread.ready_ = &ready;
    thread.waits_for_ = what;
    thread.fibre_.suspend();
  }
  thread.ready_ = nullptr;
}

void Cluster::fail(const std::string& message) {
  if (running == nullptr) throw Failure(message);
  const Thread& thread = *running;
  failure_ = message + " (thread " + std::to_string(thread.rank) + " of block " + std::to_string(thread.block.index.x) +
             ", " + std::to_string(thread.block.index.y) + ", " + std::to_string(thread.block.index.z) + ")";
  throw Stopped();
}

// Runs the warp's lanes in turn while any can run; at random, switches to another warp earlier.
bool Cluster::run_warp(Block& block, unsigned first) {
  const size_t last = std::min<size_t>(block.threads.size(), first + kWarp);
  bool any = false;
  for (bool more = true; more && failure_.empty();) {
    more = false;
    for (size_t i = first; i < last && failure_.empty(); ++i) {
      Thread& thread = *block.threads[i];
      if (!can_run(thread)) continue;
      running = &thread;
      thread.fibre_.resume();
      running = nullptr;
      more = any = true;
    }
    if (chance(64)) break;
  }
  return any;
}

bool Cluster::run_pending() {
  if (pending_.empty()) return false;
  const auto which = pending_.begin() + static_cast<std::ptrdiff_t>(random() % pending_.size());
  const Work work = std::move(*which);
  pending_.erase(which);
  work();
  return true;
}

void Cluster::run(Index first) {
  struct Warp {
    Block* block;
    unsigned first;
  };
  std::vector<Warp> warps;
  for (const auto& block : blocks) {
    block->start({first.x + block->rank, first.y, first.z});
    for (const auto& thread : block->threads) {
      thread->done_ = false;
      thread->ready_ = nullptr;
      thread->copies.clear();
      if (thread->lane() == 0) warps.push_back({block.get(), thread->rank});
    }
  }
  const bool late = launch.seed % 2 == 0;
  for (bool any = true; any;) {
    std::shuffle(warps.begin(), warps.end(), random);
    any = false;
    for (const Warp& warp : warps) {
      any |= run_warp(*warp.block, warp.first);
      if (!failure_.empty()) throw Failure(failure_);
      if (!late && chance(4)) any |= run_pending();
    }
    if (!any) any = run_pending();
  }
  for (const auto& block : blocks)
    for (const auto& thread : block->threads)
      if (!thread->done_) report_deadlock();
}

void Cluster::report_deadlock() const {
  std::string text = "no thread can continue:";
  for (const auto& block : blocks)
    for (const auto& thread : block->threads)
      if (!thread->done_ && (thread->lane() == 0 || can_run(*thread) || block->threads[thread->rank - 1]->done_))
        text += "\n  thread " + std::to_string(thread->rank) + " waits for " + thread->waits_for_;
  throw Failure(text);
}

void run(const Launch& launch, const std::function<void()>& kernel) {
  Cluster cluster(launch, kernel);
  active = &cluster;
  running = nullptr;
  for (unsigned z = 0; z < launch.grid.z; ++z)
    for (unsigned y = 0; y < launch.grid.y; ++y)
      for (unsigned x = 0; x < launch.grid.x; x += launch.cluster) cluster.run({x, y, z});
}

void fail(const std::string& message) { cluster().fail(message); }

void wait_until(const std::function<bool()>& ready, const char* what) { cluster().wait(ready, what); }

void later(Work work) { cluster().later(std::move(work)); }

uint32_t shared_address(const void* pointer) {
  const unsigned char* start = block().shared().data();
  const auto offset = static_cast<const unsigned char*>(pointer) - start;
  if (offset < 0 || static_cast<size_t>(offset) > block().shared().size()) fail("a pointer outside shared memory");
  return block().rank * kSharedWindow + kSharedBase + static_cast<uint32_t>(offset);
}

unsigned char* shared_memory(uint32_t address, size_t bytes, size_t alignment) {
  const uint32_t which = address / kSharedWindow, offset = address % kSharedWindow - kSharedBase;
  if (which >= cluster().blocks.size()) fail("an address outside the cluster's shared memory");
  const SharedMemory& memory = cluster().blocks[which]->shared();
  if (offset > memory.size() || bytes > memory.size() - offset)
    fail("shared memory of " + std::to_string(memory.size()) + " bytes is accessed at " +
         std::to_string(static_cast<int32_t>(offset)));
  if (address % alignment != 0) fail("a misaligned address of shared memory: " + std::to_string(address));
  return memory.data() + offset;
}

namespace {

Block::Barrier& arrive_at(unsigned id, unsigned threads) {
  if (id >= 16) fail("a block has 16 barriers");
  if (threads % kWarp != 0) fail("a barrier is for whole warps");
  Block::Barrier& barrier = block().barriers[id];
  if (barrier.arrived == 0) barrier.expected = threads;
  if (barrier.expected != threads) fail("two numbers of threads at barrier " + std::to_string(id));
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    ++barrier.phase;
  }
  return barrier;
}

}  // namespace

void arrive(unsigned id, unsigned threads) { arrive_at(id, threads); }

void arrive_and_wait(unsigned id, unsigned threads) {
  const uint64_t before = block().barriers[id % 16].phase;
  const Block::Barrier& barrier = arrive_at(id, threads);
  wait_until([&] { return barrier.phase != before; }, "a barrier of the block");
}

void execute_together(unsigned size, void* operand, const std::function<void(void* const*)>& work, const char* what) {
  const Thread& thread = current();
  if (block().threads.size() % size != 0) fail(std::string(what) + ": the block has a part of a warp or warpgroup");
  Block::Meeting& meeting = block().meeting(size, thread.rank / size);
  if (meeting.arrived == 0) meeting.what = what;
  if (std::strcmp(meeting.what, what) != 0)
    fail(std::string("threads of one warp diverge: ") + what + " and " + meeting.what);
  meeting.operands[thread.rank % size] = operand;
  const uint64_t round = meeting.round;
  if (++meeting.arrived == size) {
    work(meeting.operands.data());
    meeting.arrived = 0;
    ++meeting.round;
    return;
  }
  wait_until([&] { return meeting.round != round; }, what);
}

}  // namespace gvb::emulator
