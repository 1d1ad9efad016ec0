// Copies to the device from memory that is pinned in one of two ways, or not (PCIE-004), timed by the host's clock from
// before cuMemcpyHtoD until cuCtxSynchronize has returned; and the duration of pinning.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class CopySource {
  kHostAlloc,   // cuMemHostAlloc
  kPageable,    // mmap, written to before
  kRegistered,  // like kPageable, then pinned by cuMemHostRegister
};

struct SourceCopiesRequest {
  CopySource source = CopySource::kHostAlloc;
  size_t bytes = 0;  // size of a copy, in whole words
  unsigned count = 0;
  unsigned warmup = 0;
  uint64_t seed = 0;
};

struct SourceCopies {
  std::vector<double> copy_ns;  // duration of each copy; each was verified on the device
  // Duration of the call that pinned `pinned_bytes`; nullopt: the memory is not pinned.
  std::optional<double> pin_ns;
  uint64_t pinned_bytes = 0;
  std::optional<int> node;  // as in CopyRate
};

SourceCopies measure_source_copies(DeviceSession& session, const SourceCopiesRequest& request);

}  // namespace gvb
