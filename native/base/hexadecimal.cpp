#include "base/hexadecimal.h"

namespace gvb {

namespace {

constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

std::string hexadecimal(const void* data, size_t bytes) {
  std::string digits;
  for (size_t i = 0; i < bytes; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(data)[i];
    digits += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return digits;
}

bool read_hexadecimal(const std::string& digits, void* data, size_t bytes) {
  if (digits.size() != 2 * bytes || digits.find_first_not_of(kDigits) != std::string::npos) return false;
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(data)[i] = static_cast<unsigned char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  return true;
}

}  // namespace gvb
