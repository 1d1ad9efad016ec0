// LLM-002: rounds in which a cache of keys and values grows page by page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// `kVirtual`: cuMemCreate, cuMemMap and cuMemSetAccess into addresses that were reserved once. `kStreamOrdered`:
// cuMemAllocAsync from a pool that already holds as much.
enum class PageMode { kVirtual, kStreamOrdered };

struct PageRoundsRequest {
  PageMode mode = PageMode::kVirtual;
  unsigned pages = 1;
  unsigned rounds = 1;
};

struct PageRounds {
  size_t page_bytes = 0;
  std::vector<double> commit_ns;   // of each round, all its pages
  std::vector<double> page_ns;     // of each page of each round
  std::vector<double> release_ns;  // of each round, all its pages
  // By this process, on the device; nullopt if NVML cannot report it.
  std::optional<uint64_t> used_before;
  std::optional<uint64_t> used_after;
};

// A first round is not timed: it makes the pool hold its pages.
PageRounds measure_page_rounds(DeviceSession& session, const PageRoundsRequest& request);

}  // namespace gvb
