// The driver of this process: its initialisation, and the entry checks of every exported function.
#pragma once

#include <atomic>

#include "driver/cuda_abi.h"
#include "sim/card/region.h"
#include "sim/functions.h"
#include "sim/gate.h"
#include "sim/recorded_call.h"

namespace gvb::sim {

enum class DriverState : int { kFresh, kReady, kForked, kExited };

extern std::atomic<DriverState> driver_state;

abi::CUresult initialise_driver();
abi::CUresult unready_code();
Region& region();

// Devices of this process under CUDA_VISIBLE_DEVICES.
int device_count();
int physical_device(abi::CUdevice device);  // its place among the cards; -1 if out of range

inline abi::CUresult driver_unready() {
  return __builtin_expect(driver_state.load(std::memory_order_acquire) == DriverState::kReady, 1) ? abi::CUDA_SUCCESS
                                                                                                  : unready_code();
}

}  // namespace gvb::sim

#define GVB_SIM_CALL(name)                                              \
  const gvb::sim::RecordedCall recorded_call(gvb::sim::Function::name); \
  if (const int injected = gvb::sim::injected_failure(gvb::sim::Function::name)) return injected

#define GVB_SIM_ENTER(name)                                           \
  GVB_SIM_CALL(name);                                                 \
  if (const int unready = gvb::sim::driver_unready()) return unready; \
  const gvb::sim::GateEntry gate_entry
