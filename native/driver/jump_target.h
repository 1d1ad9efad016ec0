// Finds the target of a jump at the beginning of a function, where a layer that patches code puts one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gvb {

struct CodeBytes {
  const unsigned char* bytes;
  size_t size;
};

// Copies the readable bytes at an address and returns how many there were.
using ReadMemory = size_t (*)(uintptr_t address, void* out, size_t size);

// `code` is, or would be, at `address`. Nothing if no jump to a fixed address begins there. `read` gets the word that a
// jump takes its target from.
std::optional<uintptr_t> jump_target(CodeBytes code, uintptr_t address, ReadMemory read);

// The number of bytes at the beginning of `code` that only mark a valid target of indirect jumps (endbr64, bti).
size_t landing_pad(const unsigned char* code, size_t size);

}  // namespace gvb
