// What the interposer does, from GVB_INTERPOSE: a comma-separated list of
//   function=+delay                  spins in every call of the function, before the driver's
//   memory=SIZE, sm=PERCENT          limits (limits.cpp, compute_limit.h)
//   perlive=TIME                     in cuMemFree and cuPointerGetAttribute so much more for each block that is live
//   token=TIME, token=TIME@PERCENT   in cuLaunchKernel, its Ex and the cooperative launch so much more, as if each
//   looked
//                                    whether it may; with a percentage, only where that limits (is below 100)
//   lock=TIME                        every hooked call first waits its turn and then keeps the others waiting for that
//                                    time: from 1 ms on it sleeps meanwhile, below it spins
//   state=PATH                       the file (absolute, without a comma) by which processes share the lock; without it
//                                    each has its own
//   poll=PERCENT                     hooks cuInit; a thread that uses that share of one processor, by its own clock,
//                                    from the first hooked call on; 0 starts none
//   hooks=export+dlsym+procaddress   by what the hooks are met
// GVB_INTERPOSE_RECORD names a folder where each process writes down its calls of hooked functions: when they came,
// left for the driver and held the lock; and what the polling thread used. Wrong settings end the process with a
// reason: a calibration layer that guesses would calibrate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/api_tables.h"

namespace gvb::interpose {

struct Settings {
  // By function index; hooked functions without a delay have 0.
  int64_t delay_ns[kCudaFunctionCount] = {};
  bool hooked[kCudaFunctionCount] = {};
  double per_live_ns = 0;     // beside delay_ns, in the functions below
  uint64_t memory_limit = 0;  // bytes; 0: none
  unsigned sm_percent = 100;
  int64_t lock_ns = 0;  // 0: no lock
  std::string state;    // empty: the lock is this process's own
  double poll_percent = 0;
  std::string record;  // GVB_INTERPOSE_RECORD; empty: no record
  bool hooks_dlsym = true;
  bool hooks_procaddress = true;
};

// What perlive makes slower.
constexpr const char* kPerLiveFunctions[] = {"cuMemFree_v2", "cuPointerGetAttribute"};

// Throws std::invalid_argument with a message in the house form.
Settings parse_settings(const std::string& text);

}  // namespace gvb::interpose
