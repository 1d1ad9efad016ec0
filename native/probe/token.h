// Bytes as one command-line argument.
#pragma once

#include <string>

namespace gvb::probe {

std::string token_of(const void* bytes, size_t count);
// Throws Over if its length differs.
void read_token(const std::string& token, void* bytes, size_t count);

}  // namespace gvb::probe
