#include "sim/mps/mps_client.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "sim/settings.h"

namespace gvb::sim {

bool is_mps_client() {
  static const bool reachable = [] {
    const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    return directory != nullptr && access((std::string(directory) + "/control").c_str(), F_OK) == 0;
  }();
  return settings().mps != 0 || reachable;
}

std::optional<std::string> served_devices() {
  const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  if (directory == nullptr || !is_mps_client()) return std::nullopt;
  return first_line((std::string(directory) + "/devices").c_str());
}

namespace {

// The simulated control daemon writes each partition's multiprocessors to a file beside its pipe.
int partition_multiprocessors(const std::string& partition) {
  const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string file =
      std::string(directory == nullptr ? "" : directory) + "/partition-" + partition.substr(partition.find('/') + 1);
  const auto multiprocessors = first_line(file.c_str());
  return multiprocessors ? static_cast<int>(std::strtol(multiprocessors->c_str(), nullptr, 10)) : 0;
}

}  // namespace

int visible_multiprocessors(int place) {
  const auto all = static_cast<int>(card_settings(place).sms);
  if (const char* partition = std::getenv("CUDA_MPS_SM_PARTITION"); partition != nullptr && is_mps_client()) {
    const int part = partition_multiprocessors(partition);
    return part > 0 ? std::min(part, all) : all;
  }
  const char* text = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  const double percent = text == nullptr ? 100 : std::strtod(text, nullptr);
  if (!is_mps_client() || !(percent > 0 && percent < 100)) return all;
  return static_cast<int>(std::ceil(all * percent / 100));
}

double multiprocessor_limit(int place) {
  return static_cast<double>(visible_multiprocessors(place)) / static_cast<double>(card_settings(place).sms);
}

// "0=1G,1=512M": sizes in bytes, or with a suffix for a binary unit.
int64_t pinned_memory_limit(int ordinal) {
  const char* text = std::getenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT");
  if (text == nullptr || !is_mps_client()) return 0;
  for (const char* at = text; *at != '\0'; at += *at == ',') {
    char* end = nullptr;
    const long device = std::strtol(at, &end, 10);
    if (end == at || *end != '=') return 0;
    const long long size = std::strtoll(end + 1, &end, 10);
    const int shift = *end == 'G' ? 30 : *end == 'M' ? 20 : *end == 'K' ? 10 : 0;
    if (device == ordinal && size > 0) return static_cast<int64_t>(size) << shift;
    at = end;
    while (*at != ',' && *at != '\0') ++at;
  }
  return 0;
}

}  // namespace gvb::sim
