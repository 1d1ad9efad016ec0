// Runs a grid on the host, cluster by cluster: one fibre per thread, real shared memory, barriers, and operations that
// a warp or a warpgroup executes together. Warps run in a random order from a seed. Asynchronous work is done at a
// random moment between its start and the wait for it or, with an even seed, only once no thread can continue without
// it. A missing barrier or wait therefore shows as a wrong result; a barrier that never completes is an error that
// lists what each thread waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/emulator/fibre.h"

namespace gvb::emulator {

constexpr unsigned kWarp = 32, kWarpgroup = 128;
// Start of shared memory in a block's window: not 0, so that an address of 0 is an error, and as large as the
// hardware's largest alignment.
constexpr uint32_t kSharedBase = 1024;
// Distance between the shared memory windows of a cluster's blocks.
constexpr uint32_t kSharedWindow = uint32_t{1} << 24;

struct Index {
  unsigned x = 1, y = 1, z = 1;
};

struct Launch {
  Index grid;
  Index block;
  size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks per cluster, along x
  uint64_t seed = 1;
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Failure if the kernel breaks a rule of the hardware, or if no thread can continue.
void run(const Launch& launch, const std::function<void()>& kernel);

using Work = std::function<void()>;

class Block;
class Cluster;

// One thread of a block.
class Thread {
 public:
  Thread(Block& block, unsigned rank, Index index);

  Block& block;
  const unsigned rank;  // in its block
  const Index index;
  std::deque<std::vector<Work>> copies;  // groups of asynchronous copies; the last one is still being filled

  unsigned lane() const { return rank % kWarp; }

 private:
  friend class Cluster;
  Fibre fibre_;
  bool done_ = true;
  const std::function<bool()>* ready_ = nullptr;  // null: it can run
  const char* waits_for_ = "";
};

// Aligned on the host as on the device, for structs in it. Exactly of the requested size, so that the address sanitizer
// sees accesses beyond it.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);
  unsigned char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(unsigned char* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  static constexpr std::align_val_t kAlignment{kSharedBase};
  const size_t size_;
  const std::unique_ptr<unsigned char[], Free> bytes_;
};

class Block {
 public:
  Block(Cluster& cluster, const Launch& launch, unsigned rank);

  Cluster& cluster;
  const unsigned rank;  // in its cluster
  Index index;
  std::vector<std::unique_ptr<Thread>> threads;

  void start(Index at);  // for the next block of the grid
  const SharedMemory& shared() const { return shared_; }

  struct Barrier {
    unsigned arrived = 0, expected = 0;
    uint64_t phase = 0;
  };
  Barrier barriers[16];

  // The threads of a warp or warpgroup that have arrived to execute one instruction together.
  struct Meeting {
    std::vector<void*> operands;
    unsigned arrived = 0;
    uint64_t round = 0;
    const char* what = nullptr;
  };
  Meeting& meeting(unsigned size, unsigned which);

 private:
  const SharedMemory shared_;
  std::vector<Meeting> warps_, warpgroups_;
};

// The blocks that run at the same time.
class Cluster {
 public:
  Cluster(const Launch& launch, const std::function<void()>& kernel);

  const Launch launch;
  const std::function<void()> kernel;
  std::vector<std::unique_ptr<Block>> blocks;
  std::mt19937_64 random;

  void run(Index first);
  void later(Work work) { pending_.push_back(std::move(work)); }
  bool chance(unsigned one_in) { return random() % one_in == 0; }

  void body(Thread& thread);                                        // runs in a thread's fibre
  void wait(const std::function<bool()>& ready, const char* what);  // suspends the current thread
  [[noreturn]] void fail(const std::string& message);               // ends the launch

 private:
  bool run_warp(Block& block, unsigned first);
  bool run_pending();
  bool can_run(const Thread& thread) const { return !thread.done_ && (!thread.ready_ || (*thread.ready_)()); }
  [[noreturn]] void report_deadlock() const;

  std::deque<Work> pending_;
  std::string failure_;
};

Thread& current();  // the thread whose code runs
inline Block& block() { return current().block; }
Cluster& cluster();

[[noreturn]] void fail(const std::string& message);

// Suspends the current thread until `ready`.
void wait_until(const std::function<bool()>& ready, const char* what);

// Schedules work of the hardware, to be done at any time from now on.
void later(Work work);

// Converts a pointer to shared memory to an address as in PTX, and back. `bytes` at `address` must lie inside.
uint32_t shared_address(const void* pointer);
unsigned char* shared_memory(uint32_t address, size_t bytes, size_t alignment);

// Barrier `id` of the block, for `threads` threads.
void arrive(unsigned id, unsigned threads);
void arrive_and_wait(unsigned id, unsigned threads);

// Executes `work` once, when all threads of the current warp or warpgroup have arrived, on their operands.
void execute_together(unsigned size, void* operand, const std::function<void(void* const*)>& work, const char* what);

template <class Operand, class Execute>
void together(unsigned size, Operand& mine, const Execute& execute, const char* what) {
  execute_together(
      size, &mine,
      [&](void* const* operands) {
        Operand* all[kWarpgroup];
        for (unsigned i = 0; i < size; ++i) all[i] = static_cast<Operand*>(operands[i]);
        execute(all);
      },
      what);
}

}  // namespace gvb::emulator
