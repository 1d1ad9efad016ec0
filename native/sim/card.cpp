#include "sim/card.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "sim/settings.h"

namespace gvb::sim {

abi::CUuuid cardUuid(int index) {
  abi::CUuuid uuid = {{'g', 'v', 'b', 's', 'i', 'm', 0x40, 0, static_cast<char>(0x80)}};
  uuid.bytes[15] = static_cast<char>(index);
  return uuid;
}

std::string cardUuidText(int index) {
  const abi::CUuuid uuid = cardUuid(index);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

int pciBus(int index) { return index + 1; }

std::string pciBusId(int index, int domainDigits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*d:%02X:00.0", domainDigits, 0, static_cast<unsigned>(pciBus(index)));
  return text;
}

int smClockKHz() {
  return static_cast<int>(std::lround(settings().fp32_tflops * 1e9 / (static_cast<double>(settings().sms) * 256)));
}

int memoryClockKHz() { return static_cast<int>(std::lround(settings().dram_gbs * 1e6 * 8 / (2.0 * kMemoryBusWidth))); }

bool copyText(const std::string& text, char* to, size_t size) {
  if (text.size() >= size) return false;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return true;
}

}  // namespace gvb::sim
