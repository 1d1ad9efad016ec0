// Reading memory that the reader never wrote (IS-005): a tag of 128 bits is left on a surface by one process, and
// another one looks for it on the same surface before it writes anything there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

// Memory by the way it is allocated, and what is on the chip.
enum class Surface { kAlloc, kPool, kVirtual, kManaged, kArray, kPinned, kShared, kLocal, kRegisters };

// 128 bits as 32 digits of base 16. Who looks for the tag has its mark alone, from which the tag does not follow
// without arithmetic that nothing does here: it would else find what it brought itself.
struct Tag {
  uint64_t low = 0, high = 0;
};
Tag parse_tag(const std::string& digits);
Tag mark_of(const Tag& tag);

struct SurfaceRequest {
  Surface surface = Surface::kAlloc;
  std::string mark;       // what is looked for
  std::string fill;       // the tag, which is written before it is looked for; empty: nothing is written
  size_t most_bytes = 0;  // of memory
  unsigned for_ms = 0;    // on the chip: again and again for this time
};

struct SurfaceFound {
  uint64_t bytes = 0;  // that were looked at
  uint64_t tagged_bytes = 0;
  uint64_t other_bytes = 0;  // neither the tag nor zero
  std::string unsupported;   // why nothing could be looked at; empty: it could
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

// Memory of the device; a multiple of 16 bytes.
struct Chunk {
  abi::CUdeviceptr address;
  size_t bytes;
};

// The kernels, and the counters that they find into.
class TagScanner {
 public:
  explicit TagScanner(DeviceSession& session);

  void fill(const Chunk& memory, const Tag& tag);
  SurfaceFound scan(const Chunk& memory, const Tag& mark);
  // Of all multiprocessors. `tag`: written before; null: nothing is.
  SurfaceFound on_chip(Surface surface, const Tag* tag, const Tag& mark);

 private:
  void clear(const Tag* tag);
  void launch(const char* kernel, unsigned blocks, unsigned threads, void** parameters);
  SurfaceFound found(uint64_t bytes);

  const Cuda& cuda_;
  const Module module_;
  const unsigned multiprocessors_;
  const DeviceMemory counters_;  // two counts, then the tag where registers are filled
};

}  // namespace gvb
