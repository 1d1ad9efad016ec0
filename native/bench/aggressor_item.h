// The common interface of the aggressors; the loop knows no more of them than this.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "bench/aggressor.h"
#include "bench/block_counters.h"
#include "bench/gpu_state.h"

namespace gvb {

// Why an item cannot run on this device or under this quota.
struct Missing {
  std::string why;
};

class AggressorItem {
 public:
  AggressorItem() = default;
  virtual ~AggressorItem() = default;
  AggressorItem(const AggressorItem&) = delete;
  AggressorItem& operator=(const AggressorItem&) = delete;

  // Starts or performs an operation. Returns how many have completed since the last call.
  virtual uint64_t next() = 0;
  // Waits for the remaining operations and counts them. After it the device must have counted `blocks_of` them.
  virtual uint64_t finish() = 0;
  virtual uint64_t blocks_of(uint64_t operations) const = 0;
  virtual void describe(Aggression*) const {}
};

inline std::string in_mib(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

struct AggressorTools {
  DeviceSession& session;
  const AggressorRequest& request;
  const Module& module;
  const BlockCounters& counters;

  const Cuda& cuda() const { return session.cuda; }
  unsigned multiprocessors() const { return card_multiprocessors(session); }
  // How much memory may be taken: 1 GiB less than is free, or an eighth of a small memory, by what the process is told
  // and by NVML without any layer.
  size_t budget() const {
    constexpr uint64_t kReserve = uint64_t{1} << 30;
    const auto seen = visible_memory(session).free_bytes;
    const auto real = read_gpu_state(session.driver.nvml.api, session.nvml_device, GpuDetail::kReadings).free_bytes;
    if (!seen && !real) {
      size_t free_bytes = 0, total = 0;
      GVB_CALL(cuda(), "asking for free memory", cuMemGetInfo_v2, &free_bytes, &total);
    }
    const uint64_t least = std::min(seen ? *seen : real.value_or(0), real ? *real : seen.value_or(0));
    return least - std::min(kReserve, least / 8);
  }
};

std::unique_ptr<AggressorItem> make_kernel_item(const AggressorTools& tools);  // aggressors that launch kernels
std::unique_ptr<AggressorItem> make_storm_item(const AggressorTools& tools);   // aggressors that make other calls

}  // namespace gvb
