// Reading memory that the reader never wrote (IS-005): one process leaves a 128-bit tag on a surface, and another one
// looks for it on the same surface before it writes anything there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// Memory by the way it is allocated, and on-chip memory.
enum class Surface { kAlloc, kPool, kVirtual, kManaged, kArray, kPinned, kShared, kLocal, kRegisters };

// 128 bits as 32 hexadecimal digits. The reader has only the tag's mark, from which no code here derives the tag, so it
// cannot find what it brought itself.
struct Tag {
  uint64_t low = 0, high = 0;
};
Tag parse_tag(const std::string& digits);
Tag mark_of(const Tag& tag);

struct SurfaceRequest {
  Surface surface = Surface::kAlloc;
  std::string mark;       // what to look for
  std::string fill;       // the tag, written before looking; empty: nothing is written
  size_t most_bytes = 0;  // for memory
  unsigned for_ms = 0;    // for on-chip surfaces: how long to repeat
};

struct SurfaceFound {
  uint64_t bytes = 0;  // bytes examined
  uint64_t tagged_bytes = 0;
  uint64_t other_bytes = 0;  // bytes that are neither the tag nor zero
  std::string unsupported;   // why nothing could be examined; empty: it could
};

// Memory stays allocated until it is released.
SurfaceFound visit_surface(DeviceSession& session, const SurfaceRequest& request);

struct Released {
  uint64_t bytes = 0;
};
Released release_surfaces(DeviceSession& session);

struct TenantMemory {
  uint64_t free_bytes = 0, total_bytes = 0;
};
TenantMemory tenant_memory(DeviceSession& session);

// Device memory; a multiple of 16 bytes.
struct Chunk {
  abi::CUdeviceptr address;
  size_t bytes;
};

// The kernels, and the counters for what they find.
class TagScanner {
 public:
  explicit TagScanner(DeviceSession& session);

  void fill(const Chunk& memory, const Tag& tag);
  SurfaceFound scan(const Chunk& memory, const Tag& mark);
  // Covers all multiprocessors. `tag` is written first; null: nothing is written.
  SurfaceFound on_chip(Surface surface, const Tag* tag, const Tag& mark);

 private:
  void clear(const Tag* tag);
  void launch(const char* kernel, unsigned blocks, unsigned threads, void** parameters);
  SurfaceFound found(uint64_t bytes);

  const Cuda& cuda_;
  const Module module_;
  const unsigned multiprocessors_;
  const DeviceMemory counters_;  // two counts, then the tag if registers are filled
};

}  // namespace gvb
