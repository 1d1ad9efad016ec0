#pragma once

#include <atomic>

#include "driver/nvml_abi.h"
#include "sim/card/region.h"
#include "sim/clock.h"
#include "sim/functions.h"
#include "sim/recorded_call.h"

namespace gvb::abi {

#define GVB_NVML(name, version, params) extern "C" __attribute__((visibility("default"))) nvmlReturn_t name params;
#include "driver/nvml_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_NVML
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(nvmlReturn_t code);

}  // namespace gvb::abi

namespace gvb::sim {

abi::nvmlReturn_t nvml_unready();
Region& nvml_region();
int device_index(abi::nvmlDevice_t device);  // -1: not a device
abi::nvmlDevice_t device_handle(int index);

}  // namespace gvb::sim

#define GVB_SIM_NVML_COST(name)                                         \
  gvb::sim::environment();                                              \
  const gvb::sim::RecordedCall recorded_call(gvb::sim::Function::name); \
  const gvb::sim::HostCost cost(gvb::sim::settings().nvml_us * 1e3)

#define GVB_SIM_NVML(name)                                                                        \
  GVB_SIM_NVML_COST(name);                                                                        \
  if (const int injected = gvb::sim::injected_failure(gvb::sim::Function::name)) return injected; \
  if (const int unready = gvb::sim::nvml_unready()) return unready

#define GVB_SIM_NVML_DEVICE(name, handle)           \
  GVB_SIM_NVML(name);                               \
  const int index = gvb::sim::device_index(handle); \
  if (index < 0) return gvb::abi::NVML_ERROR_INVALID_ARGUMENT
