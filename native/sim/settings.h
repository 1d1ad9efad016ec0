#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/functions.h"

namespace gvb::sim {

constexpr int kMaxDevices = 16;
constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kGranularity = 2 * kMiB;

// Trivially copyable: it is stored in the region, where processes compare it with their own.
struct Settings {
  int64_t devices = 1;
  int64_t sms = 132;
  int64_t memory_mib = 143771;
  int64_t l2_mib = 60;
  double dram_gbs = 4800;
  double pcie_gbs = 63;
  double fp32_tflops = 67;
  double tensor_tflops = 989;
  int64_t cc = 90;
  int64_t driver_version = 13000;
  double launch_ns = 2500;
  double start_ns = 2000;
  double kernel_ns = 1000;
  double alloc_us = 40;
  double free_us = 50;
  double alloc_async_us = 2;
  double free_async_us = 2;
  double vmm_us = 30;
  double host_alloc_us = 20;
  double init_ms = 30;
  double context_ms = 30;
  int64_t context_mib = 500;
  int64_t init_lock = 0;
  double module_ms = 0;
  double module_cached_ms = 0;
  double nvml_us = 0;
  double timeslice_us = 2000;
  int64_t timer_step_ns = 32;
  int64_t clock_offset_ns = 1700000000000000000;
  double clock_drift_ppm = 5;
  int64_t persistence = 1;
  int64_t mps = 0;
  int64_t temperature_c = 35;
  int64_t performance_state = 0;
  int64_t event_reasons = 0;
  char region[49] = "default";
};

// What GVB_SIM says: `error` is empty when it was accepted.
struct Environment {
  Settings settings;
  std::vector<Failure> failures;
  std::string record;              // the folder of the record of calls; empty: none
  std::vector<Function> recorded;  // what of; empty: all
  std::string error;
};

Environment parseEnvironment(const char* text);

// GVB_SIM of this process, read at the first call; arms its failures and starts its record.
const Environment& environment();

inline const Settings& settings() { return environment().settings; }

// The first key in which two processes of one region differ, as "launch_ns=3000 (theirs: 2500)"; empty when none.
std::string difference(const Settings& ours, const Settings& theirs);

}  // namespace gvb::sim
