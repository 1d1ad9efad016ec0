// The target of a jump at the beginning of a function, which a layer that patches code puts there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gvb {

struct CodeBytes {
  const unsigned char* bytes;
  size_t size;
};

// `code` is, or would be, at `address`. Nothing where no jump to a fixed place begins there.
std::optional<uintptr_t> jump_target(CodeBytes code, uintptr_t address);

// How many bytes at the beginning of `code` mark a valid target of indirect jumps (endbr64, bti) and do nothing else.
size_t landing_pad(const unsigned char* code, size_t size);

// Copies what is mapped and readable at `address`; how many bytes that were.
size_t read_own_memory(uintptr_t address, void* out, size_t size);

}  // namespace gvb
