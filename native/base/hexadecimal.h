// Bytes as hexadecimal text, two digits each: how handles and ids pass between processes.
#pragma once

#include <cstddef>
#include <string>

namespace gvb {

std::string hexadecimal(const void* data, size_t bytes);

// False unless `digits` has exactly two digits per byte.
bool read_hexadecimal(const std::string& digits, void* data, size_t bytes);

}  // namespace gvb
