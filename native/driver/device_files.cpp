#include "driver/device_files.h"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "base/text.h"

namespace gvb {

namespace {

// nvidia* on servers and desktops, nvhost* and nvmap on Jetson, dxg under WSL.
bool is_device(const std::string& path) {
  return begins_with(path, "/dev/nv") || path == "/dev/dxg" || begins_with(path, "/dev/shm/gvb-sim-");
}

}  // namespace

DeviceFiles open_device_files() {
  DeviceFiles files;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), closedir);
  if (!directory) return files;
  while (const dirent* entry = readdir(directory.get())) {
    std::array<char, 256> target;
    const ssize_t length = readlinkat(dirfd(directory.get()), entry->d_name, target.data(), target.size());
    if (length <= 0) continue;
    const std::string path(target.data(), static_cast<size_t>(length));
    if (is_device(path)) ++files.all;
    if (path == "/dev/nvidiactl") ++files.control;
  }
  return files;
}

InitialisedAt initialised_at(const DeviceFileLooks& looks) {
  // This driver's device files have other names.
  if (looks.in_context.all <= looks.before_load.all && looks.first.all == 0) return InitialisedAt::kUnknown;
  // NVML opened its own control file after the first look, so the one that was open before was not NVML's.
  if (looks.first.control > 0 && looks.before_load.control > looks.first.control) return InitialisedAt::kProcessStart;
  if (looks.loaded.all > looks.before_load.all) return InitialisedAt::kLoad;
  if (looks.resolved.all > looks.loaded.all) return InitialisedAt::kLookUp;
  if (looks.initialised.all > looks.resolved.all) return InitialisedAt::kInit;
  return InitialisedAt::kProcessStart;
}

}  // namespace gvb
