// LLM-002: rounds in which a KV cache grows page by page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// `kVirtual`: cuMemCreate, cuMemMap and cuMemSetAccess into addresses reserved once. `kStreamOrdered`: cuMemAllocAsync
// from a pool that already holds enough.
enum class PageMode { kVirtual, kStreamOrdered };

struct PageRoundsRequest {
  PageMode mode = PageMode::kVirtual;
  unsigned pages = 1;
  unsigned rounds = 1;
  bool bare = false;  // by the driver's own functions
};

struct PageRounds {
  size_t page_bytes = 0;
  std::vector<double> commit_ns;   // per round: all its pages
  std::vector<double> page_ns;     // per page of each round
  std::vector<double> create_ns;   // for virtual memory: cuMemCreate alone
  std::vector<double> release_ns;  // per round: all its pages
  // Device memory of this process before the rounds, with the pages of the last one, and after it; nullopt if NVML
  // cannot report it.
  std::optional<uint64_t> used_before;
  std::optional<uint64_t> used_live;
  std::optional<uint64_t> used_after;
};

// The first round is not timed: it fills the pool.
PageRounds measure_page_rounds(DeviceSession& session, const PageRoundsRequest& request);

}  // namespace gvb
