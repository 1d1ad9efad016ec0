// The calibration interposer: an LD_PRELOAD layer of known behaviour. Every driver function has a hook; those that
// GVB_INTERPOSE names are handed out by dlsym and cuGetProcAddress in place of the driver's.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/api_tables.h"
#include "interpose/settings.h"
#include "record/call_log.h"

namespace gvb::interpose {

// A power of two.
constexpr size_t kRemembered = 4096;

struct Hook {
  // The driver's own function, or a replacement of ours; resolved at the first call. Behind a lock, and where calls are
  // recorded, it stays null: such calls take the long way, and others do not pay for asking.
  void* target = nullptr;
  std::atomic<uint64_t> delay_ticks{0};
  // The latest calls. Written without synchronisation: exact while one thread calls, which is how delays are
  // calibrated.
  uint64_t calls = 0;
  uint32_t spent_ticks[kRemembered] = {};
  void* on_long_way = nullptr;
};

// Calibrates the delays, opens the lock and starts the record; runs when the library is loaded. Throws
// std::invalid_argument where the lock's file cannot be shared or the record cannot be written.
void prepare_hooks();
// What perlive adds to the next calls.
void set_live_blocks(size_t live);

const Settings& settings();
// Null where no record is asked for.
record::CallLog* call_log();
// The driver's own functions, found in its symbol table; resolved at first use, when the driver is loaded.
const CudaApi& driver();

// Replacements that enforce limits or count, or nullptr where the driver's function serves.
void* replacement(size_t function);

// Address of this library's exported hook of a function.
void* hook_address(size_t function);

}  // namespace gvb::interpose
