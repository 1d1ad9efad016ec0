// Xid events: a set reports each event it registered for once, in the order of the card's timeline.
#include <map>
#include <mutex>
#include <optional>

#include "sim/handle_table.h"
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

constexpr int64_t kPoll = 1'000'000;

class EventSet {
 public:
  void watch(int place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    told_.emplace(place, nvml_region().xid_count(place));
  }

  // Returns nothing if there is no new event.
  std::optional<abi::nvmlEventData_t> next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [place, told] : told_) {
      const auto xid = nvml_region().xid(place, told);
      if (!xid) continue;
      told = xid->told;
      return abi::nvmlEventData_t{device_handle(place), abi::nvmlEventTypeXidCriticalError,
                                  static_cast<unsigned long long>(xid->number), ~0U, ~0U};
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::map<int, uint64_t> told_;  // by card: how many of its events were reported
};

using EventSetTable = HandleTable<EventSet, 0x1b>;

EventSetTable& sets() {
  static EventSetTable& table = *new EventSetTable;
  return table;
}

EventSet* find_set(abi::nvmlEventSet_t handle) { return sets().find(reinterpret_cast<uint64_t>(handle)); }

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* handle) {
  GVB_SIM_NVML(nvmlEventSetCreate);
  if (handle == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *handle = reinterpret_cast<nvmlEventSet_t>(sim::sets().insert(std::make_unique<sim::EventSet>()));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t handle) {
  GVB_SIM_NVML(nvmlEventSetFree);
  return sim::sets().remove(reinterpret_cast<uint64_t>(handle)) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* types) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetSupportedEventTypes, device);
  if (types == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *types = nvmlEventTypeXidCriticalError;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t handle) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceRegisterEvents, device);
  sim::EventSet* set = sim::find_set(handle);
  if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (types != nvmlEventTypeXidCriticalError) return NVML_ERROR_NOT_SUPPORTED;
  set->watch(index);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t handle, nvmlEventData_t* data, unsigned timeout_ms) {
  GVB_SIM_NVML(nvmlEventSetWait_v2);
  sim::EventSet* set = sim::find_set(handle);
  if (set == nullptr || data == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const int64_t until = sim::raw_now() + int64_t{timeout_ms} * 1'000'000;
  for (;; sim::sleep_for(sim::kPoll)) {
    if (const auto event = set->next()) {
      *data = *event;
      return NVML_SUCCESS;
    }
    if (sim::raw_now() >= until) return NVML_ERROR_TIMEOUT;
  }
}

}  // namespace gvb::abi
