// The driver of this process: initialisation, and what every exported function does first.
#pragma once

#include <atomic>

#include "driver/cuda_abi.h"
#include "sim/functions.h"
#include "sim/recorded_call.h"
#include "sim/region.h"

namespace gvb::sim {

enum class DriverState : int { kFresh, kReady, kForked, kExited };

extern std::atomic<DriverState> driverState;

abi::CUresult initialiseDriver();
abi::CUresult unreadyCode();
Region& region();

// Devices of this process under CUDA_VISIBLE_DEVICES.
int deviceCount();
int physicalDevice(abi::CUdevice device);  // -1 when out of range

inline abi::CUresult driverUnready() {
  return __builtin_expect(driverState.load(std::memory_order_acquire) == DriverState::kReady, 1) ? abi::CUDA_SUCCESS
                                                                                                 : unreadyCode();
}

}  // namespace gvb::sim

#define GVB_SIM_CALL(name)                                             \
  const gvb::sim::RecordedCall recordedCall(gvb::sim::Function::name); \
  if (const int injected = gvb::sim::injectedFailure(gvb::sim::Function::name)) return injected

#define GVB_SIM_ENTER(name) \
  GVB_SIM_CALL(name);       \
  if (const int unready = gvb::sim::driverUnready()) return unready
