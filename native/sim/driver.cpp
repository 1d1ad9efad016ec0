#include "sim/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "sim/card/visible_devices.h"
#include "sim/checkpoint_target.h"
#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/mps/memory_group.h"
#include "sim/mps/mps_client.h"

extern "C" {
extern __attribute__((visibility("default"))) const char gvbSimulatedDriver[];
__attribute__((visibility("default"))) const char* gvbSimError(void);
}

const char gvbSimulatedDriver[] = "gpu-virt-bench simulated GPU";

namespace gvb::sim {
namespace {

struct Driver {
  std::mutex mutex;
  Region* region = nullptr;
  std::vector<int> devices;
  std::string error;
  std::atomic<const char*> refusal{nullptr};
};

// Never destroyed: other threads may still use the driver while the process exits.
Driver& driver() {
  static Driver& instance = *new Driver;
  return instance;
}

// This library's own threads run its code, so it must never be unloaded.
void pin_library() {
  Dl_info info;
  if (dladdr(gvbSimulatedDriver, &info) != 0) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

abi::CUresult refuse(abi::CUresult code, const std::string& why) {
  driver().error = why;
  driver().refusal.store(driver().error.c_str());
  return code;
}

// Like NVIDIA's, the driver does not survive fork: the child must not touch the parent's accounts.
void disable_in_child() { driver_state.store(DriverState::kForked); }

// A forked child is never in state kReady here.
__attribute__((destructor)) void leave() {
  DriverState ready = DriverState::kReady;
  if (!driver_state.compare_exchange_strong(ready, DriverState::kExited)) return;
  leave_as_checkpoint_target();
  GateEntry::abandon();
  driver().region->detach();
}

}  // namespace

std::atomic<DriverState> driver_state{DriverState::kFresh};

abi::CUresult unready_code() {
  return driver_state.load() == DriverState::kExited ? abi::CUDA_ERROR_DEINITIALIZED : abi::CUDA_ERROR_NOT_INITIALIZED;
}

Region& region() { return *driver().region; }

int device_count() { return static_cast<int>(driver().devices.size()); }

int physical_device(abi::CUdevice device) {
  return device >= 0 && device < device_count() ? driver().devices[static_cast<size_t>(device)] : -1;
}

abi::CUresult initialise_driver() {
  const DriverState state = driver_state.load(std::memory_order_acquire);
  if (state == DriverState::kReady) return abi::CUDA_SUCCESS;
  if (state != DriverState::kFresh) return unready_code();
  std::lock_guard<std::mutex> lock(driver().mutex);
  if (driver_state.load() == DriverState::kReady) return abi::CUDA_SUCCESS;
  if (!environment().error.empty()) return refuse(abi::CUDA_ERROR_INVALID_VALUE, environment().error);
  const bool exclusive = settings().init_lock != 0;
  const HostCost cost(exclusive ? 0 : settings().init_ms * 1e6);
  driver().devices = visible_devices(
      {std::getenv("CUDA_VISIBLE_DEVICES"), std::getenv("CUDA_DEVICE_ORDER"), served_devices()}, settings());
  if (driver().devices.empty()) return abi::CUDA_ERROR_NO_DEVICE;
  const Region::Attached attached = Region::attach(settings(), Role::kUser);
  if (attached.region == nullptr) return refuse(abi::CUDA_ERROR_ILLEGAL_STATE, attached.why);
  driver().region = attached.region;
  for (int i = 0; i < device_count(); ++i) {
    if (const int64_t limit = pinned_memory_limit(i)) driver().region->limit_memory(physical_device(i), limit);
    if (const auto group = memory_group(physical_device(i))) driver().region->join_group(physical_device(i), *group);
  }
  if (exclusive) driver().region->spend_exclusively(settings().init_ms * 1e6);
  driver().refusal.store(nullptr);
  pin_library();
  pthread_atfork(nullptr, nullptr, disable_in_child);
  GateEntry::open_for(&driver().region->own_checkpointing());
  driver_state.store(DriverState::kReady, std::memory_order_release);
  return abi::CUDA_SUCCESS;
}

}  // namespace gvb::sim

const char* gvbSimError(void) { return gvb::sim::driver().refusal.load(); }

namespace gvb::abi {

CUresult cuInit(unsigned flags) {
  sim::environment();
  GVB_SIM_CALL(cuInit);
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : sim::initialise_driver();
}

CUresult cuDriverGetVersion(int* version) {
  GVB_SIM_CALL(cuDriverGetVersion);
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(sim::settings().driver_version);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
