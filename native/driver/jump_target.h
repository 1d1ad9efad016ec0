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

// `code` is, or would be, at `address`. Nothing if no jump to a fixed address begins there.
std::optional<uintptr_t> jump_target(CodeBytes code, uintptr_t address);

// The number of bytes at the beginning of `code` that only mark a valid target of indirect jumps (endbr64, bti).
size_t landing_pad(const unsigned char* code, size_t size);

// Copies the readable bytes at `address` and returns how many there were.
size_t read_own_memory(uintptr_t address, void* out, size_t size);

}  // namespace gvb
