// Fills device memory on one path until it is refused or has enough, shows that what was granted is real memory, and
// holds it until it is told to free it, so that other processes can check the card meanwhile.
#pragma once

#include <string>
#include <vector>

#include "bench/held_memory.h"

namespace gvb {

struct MemoryFillRequest {
  MemoryPath path = MemoryPath::kMemAlloc;
  uint64_t most_bytes = 0;      // limit of this call
  uint64_t first_bytes = 1;     // size of a block; halved after a refusal
  uint64_t smallest_bytes = 1;  // smallest size of a block
  uint64_t most_blocks = 1;
  uint64_t spare_bytes = 0;  // to leave free on the card; 0: until the driver refuses
};

enum class FillEnd { kRefused, kEnough, kBlocks, kSpare };

struct MemoryFill {
  uint64_t granted_bytes = 0;
  uint64_t blocks = 0;
  FillEnd end = FillEnd::kRefused;
  std::vector<Refusal> refusals;
  std::string no_memory;  // why granted memory is not separate memory; empty: it holds what was written
  double took_ns = 0;
};

// Holds the blocks in addition to what is already held.
MemoryFill fill_memory(DeviceSession& session, const MemoryFillRequest& request);

// Frees everything that is held.
MemoryReleased release_memory(DeviceSession& session);

struct RefusalsRequest {
  MemoryPath path = MemoryPath::kMemAlloc;
  uint64_t bytes = 1;
  unsigned count = 1;
  uint64_t most_ns = 1;  // no further requests after this time, except for the first few
};

struct OtherCode {
  abi::CUresult code;
  std::string name;
  uint64_t count;
};

struct Refusals {
  std::vector<double> refused_ns;  // times of those that returned CUDA_ERROR_OUT_OF_MEMORY
  uint64_t granted = 0;            // each was freed at once
  std::vector<OtherCode> others;
};

// Repeats the same request, which should be refused.
Refusals time_refusals(DeviceSession& session, const RefusalsRequest& request);

// Held cuMemAlloc memory that another process may open.
struct ExportedMemory {
  std::string handles;  // hexadecimal, separated by commas
  uint64_t bytes = 0;
};
ExportedMemory export_memory(DeviceSession& session);

struct ImportRequest {
  std::string handles;
};

// Opens and holds all of them; `no_memory` says if they do not hold what their owner wrote.
MemoryFill import_memory(DeviceSession& session, const ImportRequest& request);

}  // namespace gvb
