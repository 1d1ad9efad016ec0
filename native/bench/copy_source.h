// Copies to the device from memory that is pinned in one of two ways, or not (PCIE-004), by the host's clock: from
// before cuMemcpyHtoD until cuCtxSynchronize has returned. And what pinning costs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class CopySource {
  kHostAlloc,   // cuMemHostAlloc
  kPageable,    // mmap, written before
  kRegistered,  // the same, pinned by cuMemHostRegister
};

struct SourceCopiesRequest {
  CopySource source = CopySource::kHostAlloc;
  size_t bytes = 0;  // of a copy, in whole words
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;
};

struct SourceCopies {
  std::vector<double> copy_ns;  // each was verified on the device
  // Of the one call that pinned the memory, of `pinned_bytes`; nullopt: it is not pinned.
  std::optional<double> pin_ns;
  uint64_t pinned_bytes = 0;
  std::optional<int> node;  // as CopyRate
};

SourceCopies measure_source_copies(DeviceSession& session, const SourceCopiesRequest& request);

}  // namespace gvb
