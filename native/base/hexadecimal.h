// Bytes as digits of base 16, two each: handles and ids that go from one process to another as text.
#pragma once

#include <cstddef>
#include <string>

namespace gvb {

std::string hexadecimal(const void* data, size_t bytes);

// False where `digits` are not exactly two for each byte.
bool read_hexadecimal(const std::string& digits, void* data, size_t bytes);

}  // namespace gvb
