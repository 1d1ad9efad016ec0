#include "sim/card/own_region.h"

#include <sys/auxv.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gvb::sim {

namespace {

// The finaliser of SplitMix64.
uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// From the 16 random bytes that the kernel gives a program at its start: the driver and NVML find the same.
uint64_t secret_of_process() {
  std::array<uint64_t, 2> random{};
  if (const auto* bytes = reinterpret_cast<const void*>(getauxval(AT_RANDOM)))
    std::memcpy(&random, bytes, sizeof random);
  return mixed(random[0] + mixed(random[1]));
}

}  // namespace

std::string own_region() {
  const char* command = std::getenv("GVB_SIM_COMMAND");
  if (command != nullptr && *command != '\0') return std::string("command-") + command;
  char text[32];
  std::snprintf(text, sizeof text, "process-%016llx", static_cast<unsigned long long>(secret_of_process()));
  return text;
}

}  // namespace gvb::sim
