#include "sim/functions.h"

namespace gvb::sim {
namespace {

constexpr const char* kNames[] = {
#define GVB_CUDA(name, base, version, params) #name,
#define GVB_NVML(name, version, params) #name,
#define GVB_NCCL(name, params) #name,
#include "driver/cuda_functions.inc"
#include "driver/nccl_functions.inc"
#include "driver/nvml_functions.inc"
#include "sim/extra_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_CUDA
#undef GVB_NVML
#undef GVB_NCCL
};
constexpr int kCount = static_cast<int>(Function::kCount);
static_assert(sizeof kNames / sizeof kNames[0] == kCount);

struct Counter {
  std::atomic<uint64_t> calls{0};
  uint64_t first = 0;  // 0: never fails
  int code = 0;
};

Counter counters[kCount];

}  // namespace

std::atomic<bool> failures_armed{false};

const char* const* function_names() { return kNames; }

int function_by_name(const std::string& name) {
  for (int i = 0; i < kCount; ++i)
    if (name == kNames[i]) return i;
  return -1;
}

void arm_failures(const std::vector<Failure>& failures) {
  for (const Failure& failure : failures) {
    Counter& counter = counters[static_cast<int>(failure.function)];
    counter.first = failure.first;
    counter.code = failure.code;
  }
  if (!failures.empty()) failures_armed.store(true, std::memory_order_release);
}

int count_call(Function function) {
  if (!failures_armed.load(std::memory_order_acquire)) return 0;
  Counter& counter = counters[static_cast<int>(function)];
  if (counter.first == 0) return 0;
  return counter.calls.fetch_add(1, std::memory_order_relaxed) + 1 >= counter.first ? counter.code : 0;
}

}  // namespace gvb::sim
