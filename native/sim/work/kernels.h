// The kernels that the simulated GPU can run, found by name, each with its results and a model of its duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "driver/cuda_abi.h"
#include "sim/settings.h"
#include "sim/work/work_queue.h"

namespace gvb::sim {

struct Geometry {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  unsigned multiprocessors = 0;  // of the partition that it is launched into; 0: all
};

// The values that cuLaunchKernel's kernelParams point to.
class Arguments {
 public:
  explicit Arguments(void* const* values) : values_(values) {}

  template <class T>
  T get(size_t index) const {
    T value;
    std::memcpy(&value, values_[index], sizeof value);
    return value;
  }

 private:
  void* const* values_;
};

// kUnseen: the kernel reads what its results here do not follow from.
enum class Access { kRead, kWrite, kBoth, kUnseen };

// Memory that a kernel touches; if less than that is accessible, the launch ends in CUDA_ERROR_ILLEGAL_ADDRESS.
struct Span {
  uint64_t address;
  size_t bytes;
  size_t alignment;
  Access access;
};

// How a kernel ends.
enum class Ending {
  kInTime,     // when its work is done
  kAnswering,  // when the thread that runs it and talks to the host in real time is done
  kNever,
};

// Error codes and Xids of failing kernels: CUDA driver API, NVIDIA's catalogue of Xid errors.
constexpr Fault kOutOfBounds = {abi::CUDA_ERROR_ILLEGAL_ADDRESS, 31};
constexpr Fault kMisaligned = {abi::CUDA_ERROR_MISALIGNED_ADDRESS, 13};
constexpr Fault kTrap = {abi::CUDA_ERROR_LAUNCH_FAILED, 43};
constexpr Fault kAssert = {abi::CUDA_ERROR_ASSERT, 43};

struct Plan {
  double nanoseconds = 0;  // in addition to kernel_ns, when alone on its card
  Demand demand{};         // in addition to the multiprocessors that its blocks occupy
  Blocks blocks{};
  WorkingSet set{};  // in the L2 cache
  Seen seen = Seen::kLater;
  Ending ending = Ending::kInTime;
  std::vector<Span> touches;
  std::function<void(const Placement&)> run;  // empty: no effect
  DeferredResults::Compute compute;           // instead of `run`: see Work::compute
  std::vector<Count> counts;                  // for a plan with `run`
  Fault fault;
};

struct Kernel {
  const char* name;
  std::vector<size_t> parameter_bytes;
  Plan (*plan)(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
};

double blocks_of(const Geometry& geometry);
double resident_blocks(const Geometry& geometry, const CardSettings& card);  // how many run at a time

Blocks block_slots_of(const Geometry& geometry, const CardSettings& card);

// Blocks run in waves of as many as the card holds at a time; each wave takes as long as one block.
double waves(const Geometry& geometry, const CardSettings& card);

void add(uint64_t counter, uint64_t count);
// The kernel adds to `counter`, even if its results are never computed.
void count(Plan* plan, uint64_t counter, uint64_t by);
// Every block adds 1.
void count_blocks(Plan* plan, uint64_t counter, const Geometry& geometry);
void publish_stamp(uint64_t slot, uint64_t value);

const Kernel* find_kernel(const std::string& name);  // null if the simulation does not know it

}  // namespace gvb::sim
