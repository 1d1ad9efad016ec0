#include <pthread.h>

#include <mutex>

#include "sim/card/facts.h"
#include "sim/nvml/nvml_library.h"

extern "C" {
extern __attribute__((visibility("default"))) const char gvbSimulatedDriver[];
}

const char gvbSimulatedDriver[] = "gpu-virt-bench simulated GPU";

namespace gvb::sim {
namespace {

constexpr uint64_t kDeviceTag = 0x1aULL << 56;

struct Library {
  std::mutex mutex;
  Region* region = nullptr;  // attached at the first nvmlInit; kept until the process ends
  std::atomic<int> users{0};
};

Library& library() {
  static Library& instance = *new Library;
  return instance;
}

std::atomic<bool> attached{false};

// NVML handles do not survive fork here: the child must not touch the parent's accounts.
void disable_in_child() {
  attached.store(false);
  library().users.store(0);
}

__attribute__((destructor)) void leave() {
  if (attached.exchange(false)) library().region->detach();
}

abi::nvmlReturn_t attach() {
  std::lock_guard<std::mutex> lock(library().mutex);
  if (!environment().error.empty()) return abi::NVML_ERROR_INVALID_ARGUMENT;
  if (library().region == nullptr) {
    library().region = Region::attach(settings(), Role::kObserver).region;
    if (library().region == nullptr) return abi::NVML_ERROR_UNKNOWN;
    attached.store(true);
    pthread_atfork(nullptr, nullptr, disable_in_child);
  }
  if (!attached.load()) return abi::NVML_ERROR_UNKNOWN;
  library().users.fetch_add(1, std::memory_order_release);
  return abi::NVML_SUCCESS;
}

}  // namespace

abi::nvmlReturn_t nvml_unready() {
  return library().users.load(std::memory_order_acquire) > 0 ? abi::NVML_SUCCESS : abi::NVML_ERROR_UNINITIALIZED;
}

Region& nvml_region() { return *library().region; }

int device_index(abi::nvmlDevice_t device) {
  const uint64_t index = reinterpret_cast<uint64_t>(device) ^ kDeviceTag;
  return index < static_cast<uint64_t>(settings().places) ? static_cast<int>(index) : -1;
}

abi::nvmlDevice_t device_handle(int index) {
  return reinterpret_cast<abi::nvmlDevice_t>(kDeviceTag | static_cast<uint64_t>(index));
}

}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlInit_v2() {
  GVB_SIM_NVML_COST(nvmlInit_v2);
  if (const int injected = sim::injected_failure(sim::Function::nvmlInit_v2)) return injected;
  return sim::attach();
}

nvmlReturn_t nvmlShutdown() {
  GVB_SIM_NVML(nvmlShutdown);
  sim::library().users.fetch_sub(1, std::memory_order_release);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned size) {
  GVB_SIM_NVML(nvmlSystemGetDriverVersion);
  if (text == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const int64_t version = sim::settings().driver_version;
  const std::string shown = "simulated." + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return sim::copy_text(shown, text, size) ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  GVB_SIM_NVML(nvmlSystemGetNVMLVersion);
  if (text == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const std::string shown = std::to_string(sim::settings().driver_version / 1000) + ".simulated";
  return sim::copy_text(shown, text, size) ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  GVB_SIM_NVML(nvmlDeviceGetCount_v2);
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *count = static_cast<unsigned>(sim::settings().devices);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  GVB_SIM_NVML(nvmlDeviceGetHandleByIndex_v2);
  if (device == nullptr || index >= sim::settings().devices) return NVML_ERROR_INVALID_ARGUMENT;
  *device = sim::device_handle(static_cast<int>(index));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  GVB_SIM_NVML(nvmlDeviceGetHandleByUUID);
  if (uuid == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (int index = 0; index < sim::settings().places; ++index) {
    if (sim::card_uuid_text(index) != uuid) continue;
    *device = sim::device_handle(index);
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT:
      return "Timeout";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
      return "Function Not Found";
    default:
      return "Unknown Error";
  }
}

}  // namespace gvb::abi
