#include "sim/mps_client.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "sim/settings.h"

namespace gvb::sim {

bool isMpsClient() {
  static const bool reachable = [] {
    const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    return directory != nullptr && access((std::string(directory) + "/control").c_str(), F_OK) == 0;
  }();
  return settings().mps != 0 || reachable;
}

int visibleMultiprocessors() {
  const auto all = static_cast<int>(settings().sms);
  const char* text = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  const double percent = text == nullptr ? 100 : std::strtod(text, nullptr);
  if (!isMpsClient() || !(percent > 0 && percent < 100)) return all;
  return static_cast<int>(std::ceil(all * percent / 100));
}

}  // namespace gvb::sim
