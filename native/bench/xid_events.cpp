#include "bench/xid_events.h"

#include <map>
#include <mutex>

#include "base/clock.h"
#include "bench/device_session.h"

namespace gvb {
namespace {

struct Watch {
  abi::nvmlEventSet_t set = nullptr;
  std::vector<XidEvent> events;
};

// Never destroyed: NVML may be unloaded earlier.
struct Watches {
  std::mutex mutex;
  std::map<std::string, Watch> by_uuid;
};

Watches& watches() {
  static Watches& instance = *new Watches;
  return instance;
}

std::string refusal(const char* function, const NvmlApi& nvml, abi::nvmlReturn_t code) {
  const std::string what = nvml.nvmlErrorString ? nvml.nvmlErrorString(code) : std::to_string(code);
  return std::string(function) + " says: " + what;
}

}  // namespace

std::string watch_xids(const NvmlApi& nvml, const std::string& uuid) {
  if (!nvml.nvmlEventSetCreate || !nvml.nvmlDeviceRegisterEvents || !nvml.nvmlEventSetWait_v2)
    return "there is no NVML that reports events";
  const std::lock_guard<std::mutex> lock(watches().mutex);
  if (watches().by_uuid.count(uuid) > 0) return "";
  const abi::nvmlDevice_t device = nvml_handle(nvml, uuid);
  if (!device) return "NVML knows no GPU " + uuid;
  Watch watch;
  abi::nvmlReturn_t code = nvml.nvmlEventSetCreate(&watch.set);
  if (code != abi::NVML_SUCCESS) return refusal("nvmlEventSetCreate", nvml, code);
  code = nvml.nvmlDeviceRegisterEvents(device, abi::nvmlEventTypeXidCriticalError, watch.set);
  if (code != abi::NVML_SUCCESS) {
    if (nvml.nvmlEventSetFree) nvml.nvmlEventSetFree(watch.set);
    return refusal("nvmlDeviceRegisterEvents", nvml, code);
  }
  watches().by_uuid.emplace(uuid, watch);
  return "";
}

std::vector<XidEvent> seen_xids(const NvmlApi& nvml, const std::string& uuid) {
  const std::lock_guard<std::mutex> lock(watches().mutex);
  const auto watch = watches().by_uuid.find(uuid);
  if (watch == watches().by_uuid.end()) return {};
  abi::nvmlEventData_t data{};
  while (nvml.nvmlEventSetWait_v2(watch->second.set, &data, 0) == abi::NVML_SUCCESS)
    if (data.eventType == abi::nvmlEventTypeXidCriticalError)
      watch->second.events.push_back({now_ns(), data.eventData});
  return watch->second.events;
}

}  // namespace gvb
