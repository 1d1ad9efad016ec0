// The settings of the interposer, from GVB_INTERPOSE: a comma-separated list of
//   function=+delay                  spins in every call of the function, before the driver's
//   memory=SIZE, sm=PERCENT          limits (limits.cpp, compute_limit.h); memory covers only cuMemAlloc
//   quota=SIZE                       a limit on memory allocated by address, by cuMemCreate and as a flat array; other
//                                    ways to allocate are not counted
//   context=SIZE                     what quota counts for a process's context
//   ignores=FUNCTION+FUNCTION        functions whose allocations quota neither counts nor refuses
//   pool=PATH                        the file through which processes share one quota; without it each has its own
//   refusal=CODE                     the error code of memory and quota, instead of 2
//   shows=SIZE                       what cuMemGetInfo and cuDeviceTotalMem report, instead of the limit
//   grants=nothing, grants=twice     what cuMemAlloc returns under a quota instead of memory: an address without
//                                    memory, or the same block again and again
//   ahead=COUNT, ahead=COUNT@SIZE    allocations take this many blocks from the driver at once (only those of a size),
//                                    and answer calls for blocks of that size from them until none is left; frees reach
//                                    the driver
//   aheadpaths=FUNCTION+FUNCTION     which allocations do; default: cuMemAlloc. The stream-ordered ones take theirs by
//                                    cuMemAlloc, past the driver's pool
//   forgets=SIZE                     this much of every block stays counted after it was freed, until the process ends
//   share=PERCENT, share=PERCENT@PERIOD   a limit on the device's time (share_limit.h): the device idles after every
//                                    launch, or at the end of each period once its share of it is used up
//   sharefrom=TIME, shareswings=TIME the limit starts after this much device time; it applies only in every second
//                                    stretch of this length
//   sharefile=PATH, sharelag=TIME    a file (absolute path, no comma) with the share, if it exists; read before every
//                                    launch; a change applies this much device time later
//   sharegrid=BLOCKS                 limits only kernels with at least this many blocks
//   sharepaths=FUNCTION+FUNCTION     limits only these; default: cuLaunchKernel, its Ex, the cooperative launch, graphs
//   perlive=TIME                     a delay per live block in cuMemFree and cuPointerGetAttribute
//   token=TIME, token=TIME@PERCENT   a delay in cuLaunchKernel, its Ex and the cooperative launch, as if each checked
//                                    for permission; with a percentage, only if that is below 100
//   lock=TIME                        every hooked call waits for a lock and then holds it for this time: sleeps if it
//                                    is 1 ms or more, else spins
//   state=PATH                       the file (absolute path, no comma) through which processes share the lock; without
//                                    it each has its own
//   stale=TIME                       a lock whose owner died (or that died while it waited) is held for this time by
//                                    whoever comes next, before its own
//   poll=PERCENT                     hooks cuInit; from the first hooked call on, a thread uses this share of one
//                                    processor, by its own clock; 0 starts none
//   hooks=export+dlsym+procaddress   how programs reach the hooks
// GVB_INTERPOSE_RECORD names a folder where each process records its calls of hooked functions (when they came, went on
// to the driver and held the lock) and the polling thread's use of the processor. Invalid settings end the process with
// a reason: a layer with unknown settings cannot calibrate anything.
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
  // Delays by function index; hooked functions without a delay have 0.
  int64_t delay_ns[kCudaFunctionCount] = {};
  bool hooked[kCudaFunctionCount] = {};
  double per_live_ns = 0;                   // in addition to delay_ns, in the functions below
  uint64_t memory_limit = 0;                // bytes; 0: none
  bool counts[kCudaFunctionCount] = {};     // allocations that the limit covers
  bool accounted[kCudaFunctionCount] = {};  // those, their frees, and the call that makes a context
  uint64_t context_bytes = 0;
  uint64_t shown_bytes = 0;  // 0: the limit
  abi::CUresult refusal = abi::CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t forgotten_bytes = 0;  // bytes of every freed block that stay counted
  Grants grants = Grants::kMemory;
  uint64_t ahead = 0;        // 0: one block at a time
  uint64_t ahead_bytes = 0;  // 0: blocks of any size
  bool takes_ahead[kCudaFunctionCount] = {};
  std::string pool;  // empty: the account is this process's own
  unsigned sm_percent = 100;
  ShareLimit share;
  int64_t lock_ns = 0;  // 0: no lock
  int64_t stale_ns = 0;
  std::string state;  // empty: the lock is this process's own
  double poll_percent = 0;
  std::string record;  // GVB_INTERPOSE_RECORD; empty: no record
  bool hooks_dlsym = true;
  bool hooks_procaddress = true;
};

// The functions that perlive delays.
constexpr const char* kPerLiveFunctions[] = {"cuMemFree_v2", "cuPointerGetAttribute"};

// Throws std::invalid_argument with a message of the form "Expected … but received …".
Settings parse_settings(const std::string& text);

}  // namespace gvb::interpose
