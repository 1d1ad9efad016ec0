#include "driver/code_owner.h"

#include <algorithm>
#include <array>

#include "driver/jump_target.h"
#include "driver/mapped_images.h"
#include "driver/memory_map.h"

namespace gvb {

std::string owner_of(const void* address, const std::vector<ElfImage>& images) {
  const auto found =
      std::find_if(images.begin(), images.end(), [&](const ElfImage& image) { return image.contains(address); });
  if (!address) return "";
  if (found == images.end()) return kNoFile;
  return found->path().empty() ? kProgram : found->path();
}

// Only what the loader does not list needs a look at all of the process's memory.
std::string owner_of(const void* address) {
  const std::string owner = owner_of(address, ElfImage::all());
  return owner == kNoFile ? owner_of(address, mapped_images()) : owner;
}

std::string owner_behind_jumps(uintptr_t address) {
  // A patch often jumps to a trampoline near the function first, which jumps to the layer.
  constexpr int kMostHops = 4;
  std::string owner = kNoFile;
  for (int hop = 0; hop < kMostHops && owner == kNoFile; ++hop) {
    std::array<unsigned char, 32> code;
    const size_t size = read_own_memory(address, code.data(), code.size());
    const size_t skipped = landing_pad(code.data(), size);
    const auto target = jump_target({code.data() + skipped, size - skipped}, address + skipped, read_own_memory);
    if (!target) return "";
    address = *target;
    owner = owner_of(reinterpret_cast<const void*>(address));
  }
  return owner == kNoFile ? "" : owner;
}

}  // namespace gvb
