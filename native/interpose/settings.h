// What the interposer does, from GVB_INTERPOSE: a comma-separated list of
//   function=+delay                  spins in every call of the function, before the driver's
//   memory=SIZE, sm=PERCENT          limits (limits.cpp, compute_limit.h); memory is of cuMemAlloc alone
//   quota=SIZE                       a limit of what is allocated by address, by cuMemCreate and as a flat array; the
//                                    rest it does not know
//   context=SIZE                     what quota counts for a process's context
//   ignores=FUNCTION+FUNCTION        whose allocations quota neither counts nor refuses
//   pool=PATH                        the file by which processes have one quota together; without it each has its own
//   refusal=CODE                     what memory and quota answer in place of 2
//   shows=SIZE                       what cuMemGetInfo and cuDeviceTotalMem say in place of the limit
//   grants=nothing, grants=twice     what cuMemAlloc gives under a quota in place of memory: an address with none
//                                    behind it, or one block again and again
//   forgets=SIZE                     so much of every block stays counted after it was freed, until the process ends
//   share=PERCENT, share=PERCENT@PERIOD   a limit of the device's time (share_limit.h): idle after every launch, or at
//                                    the end of each period of the device's time, in which it may be used up at once
//   sharefrom=TIME, shareswings=TIME the limit begins after so much of the device's time; it holds in every second
//                                    stretch of that length alone
//   sharefile=PATH, sharelag=TIME    the share is what this file (absolute, without a comma) says, where there is one:
//   it
//                                    is looked at before every launch, and holds so much of the device's time later
//   sharegrid=BLOCKS                 it is for kernels of at least so many blocks
//   sharepaths=FUNCTION+FUNCTION     it is for these; default: cuLaunchKernel, its Ex, the cooperative launch, graphs
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

struct ShareLimit {
  bool given = false;
  double percent = 100;
  int64_t period_ns = 0;  // 0: after every launch
  int64_t from_ns = 0;
  int64_t swings_ns = 0;  // 0: it does not change
  std::string file;       // empty: the share does not change
  int64_t lag_ns = 0;
  uint64_t least_blocks = 0;
  bool limits[kCudaFunctionCount] = {};  // by function index
};

enum class Grants { kMemory, kNothing, kTwice };

struct Settings {
  // By function index; hooked functions without a delay have 0.
  int64_t delay_ns[kCudaFunctionCount] = {};
  bool hooked[kCudaFunctionCount] = {};
  double per_live_ns = 0;                   // beside delay_ns, in the functions below
  uint64_t memory_limit = 0;                // bytes; 0: none
  bool counts[kCudaFunctionCount] = {};     // allocations that the limit is of
  bool accounted[kCudaFunctionCount] = {};  // those, what frees them, and what makes a context
  uint64_t context_bytes = 0;
  uint64_t shown_bytes = 0;  // 0: the limit
  abi::CUresult refusal = abi::CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t forgotten_bytes = 0;  // of every block that is freed
  Grants grants = Grants::kMemory;
  std::string pool;  // empty: the account is this process's own
  unsigned sm_percent = 100;
  ShareLimit share;
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
