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

namespace {

// What the simulated control daemon says in a file beside its pipe; without a value if the process is no client of one.
std::optional<std::string> said_by_daemon(const std::string& file) {
  const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  if (directory == nullptr || !is_mps_client()) return std::nullopt;
  return first_line((std::string(directory) + "/" + file).c_str());
}

int partition_multiprocessors(const std::string& partition) {
  const auto multiprocessors = said_by_daemon("partition-" + partition.substr(partition.find('/') + 1));
  return multiprocessors ? static_cast<int>(std::strtol(multiprocessors->c_str(), nullptr, 10)) : 0;
}

// 100 for what is no limit.
double thread_percentage(const char* text) {
  const double percent = text == nullptr ? 100 : std::strtod(text, nullptr);
  return percent > 0 && percent < 100 ? percent : 100;
}

// "0=1G,1=512M": sizes in bytes, or with a suffix for a binary unit; 0: none for this device.
int64_t size_for(int ordinal, const char* text) {
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

}  // namespace

std::optional<std::string> served_devices() { return said_by_daemon("devices"); }

int visible_multiprocessors(int place) {
  const auto all = static_cast<int>(card_settings(place).sms);
  if (const char* partition = std::getenv("CUDA_MPS_SM_PARTITION"); partition != nullptr && is_mps_client()) {
    const int part = partition_multiprocessors(partition);
    return part > 0 ? std::min(part, all) : all;
  }
  if (!is_mps_client()) return all;
  const auto given = said_by_daemon("active_thread_percentage");
  const double percent = std::min(thread_percentage(std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")),
                                  thread_percentage(given ? given->c_str() : nullptr));
  return static_cast<int>(std::ceil(all * percent / 100));
}

double multiprocessor_limit(int place) {
  return static_cast<double>(visible_multiprocessors(place)) / static_cast<double>(card_settings(place).sms);
}

int64_t pinned_memory_limit(int ordinal) {
  if (!is_mps_client()) return 0;
  const char* own = std::getenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT");
  const auto given = said_by_daemon("device_pinned_mem_limit");
  const int64_t wanted = own == nullptr ? 0 : size_for(ordinal, own);
  const int64_t most = given ? size_for(ordinal, given->c_str()) : 0;
  return wanted == 0 || most == 0 ? std::max(wanted, most) : std::min(wanted, most);
}

}  // namespace gvb::sim
