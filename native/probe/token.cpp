#include "probe/token.h"

#include "probe/run.h"

namespace gvb::probe {

std::string token_of(const void* bytes, size_t count) {
  std::string token;
  for (size_t i = 0; i < count; ++i) {
    const unsigned byte = static_cast<const unsigned char*>(bytes)[i];
    token += static_cast<char>('a' + (byte >> 4));
    token += static_cast<char>('a' + (byte & 15));
  }
  return token;
}

void read_token(const std::string& token, void* bytes, size_t count) {
  if (token.size() != 2 * count) throw Over("the token has " + std::to_string(token.size()) + " characters");
  for (size_t i = 0; i < count; ++i)
    static_cast<unsigned char*>(bytes)[i] =
        static_cast<unsigned char>(((token[2 * i] - 'a') << 4) | (token[2 * i + 1] - 'a'));
}

}  // namespace gvb::probe
