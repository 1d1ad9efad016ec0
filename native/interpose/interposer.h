// The calibration interposer: an LD_PRELOAD layer of known behaviour. Every driver function has a hook; dlsym and
// cuGetProcAddress return the hooks of the functions that GVB_INTERPOSE names.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/api_tables.h"
#include "interpose/settings.h"
#include "record/call_log.h"

namespace gvb::interpose {

// Must be a power of two.
constexpr size_t kRemembered = 4096;

struct Hook {
  // The driver's own function or our replacement, resolved at the first call. Stays null if there is a lock or a
  // record: such calls take the slow path, and others need not check for it.
  void* target = nullptr;
  std::atomic<uint64_t> delay_ticks{0};
  // The latest calls. Written without synchronisation: exact only while a single thread calls, as when delays are
  // calibrated.
  uint64_t calls = 0;
  uint32_t spent_ticks[kRemembered] = {};
  void* on_long_way = nullptr;
};

// Calibrates the delays, opens the lock and starts the record; runs when the library is loaded. Throws
// std::invalid_argument if the lock's file cannot be shared or the record cannot be written.
void prepare_hooks();
// Sets what perlive adds to the next calls.
void set_live_blocks(size_t live);

const Settings& settings();
// Null if no record is configured.
record::CallLog* call_log();
// The driver's own functions, from its symbol table; resolved at first use, when the driver is loaded.
const CudaApi& driver();

// A replacement that enforces a limit or counts; nullptr if the driver's function is used.
void* replacement(size_t function);

// Address of this library's exported hook for a function.
void* hook_address(size_t function);

}  // namespace gvb::interpose
