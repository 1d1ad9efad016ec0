#include "sim/card/facts.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "sim/card/models.h"
#include "sim/settings.h"

namespace gvb::sim {

namespace {

// The card, or for an instance the card it belongs to.
int card_of(int place) {
  const int64_t parent = card_settings(place).parent;
  return parent < 0 ? place : static_cast<int>(parent);
}

}  // namespace

std::string card_name(int place) {
  const CardSettings& card = card_settings(place);
  const char* product = product_name(card);
  const std::string name = product == nullptr ? "Simulated GPU (gpu-virt-bench)" : product;
  if (card.parent < 0) return name;
  if (const MigProfile* profile = profile_of(card)) return name + " MIG " + profile->name;
  const int64_t gigabytes = (card.memory_mib * kMiB + 500'000'000) / 1'000'000'000;
  return name + " MIG " + std::to_string(card.slices) + "g." + std::to_string(gigabytes) + "gb";
}

abi::CUuuid card_uuid(int place) {
  abi::CUuuid uuid = {{'g', 'v', 'b', 's', 'i', 'm', 0x40, 0, static_cast<char>(0x80)}};
  uuid.bytes[15] = static_cast<char>(card_of(place));
  if (card_settings(place).parent >= 0) uuid.bytes[14] = static_cast<char>(1 + card_settings(place).instance);
  return uuid;
}

std::string card_uuid_text(int place) {
  const abi::CUuuid uuid = card_uuid(place);
  std::string text = card_settings(place).parent < 0 ? "GPU-" : "MIG-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

int pci_bus(int place) { return card_of(place) + 1; }

std::string pci_bus_id(int place, int domain_digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*d:%02X:00.0", domain_digits, 0, static_cast<unsigned>(pci_bus(place)));
  return text;
}

int sm_clock_khz(int place) {
  const CardSettings& card = card_settings(card_of(place));
  return static_cast<int>(std::lround(card.fp32_tflops * 1e9 / (2.0 * static_cast<double>(card.sms * card.cores))));
}

int memory_clock_khz(int place) {
  const CardSettings& card = card_settings(card_of(place));
  return static_cast<int>(std::lround(card.dram_gbs * 1e6 * 8 / (2.0 * static_cast<double>(card.bus_bits))));
}

bool copy_text(const std::string& text, char* to, size_t size) {
  if (text.size() >= size) return false;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return true;
}

}  // namespace gvb::sim
