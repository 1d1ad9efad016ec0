// The kernel of a load (bench/load.h), in a module of its own, so that the base module loads fast. Names are extern
// "C": the simulated driver executes them by name.

#include <cstdint>

#include "chain.cuh"
#include "timer.cuh"

namespace {

__device__ __forceinline__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

}  // namespace

// The layout is LedgerHead's in bench/load_work.h; bins follow it. Not in an unnamed namespace: the name of gvb_load's
// shared variable contains this type's, and an unnamed namespace is named after the path of the file.
struct Ledger {
  unsigned long long first_bin;
  unsigned long long bin_ns;
  unsigned long long bins;
  unsigned long long wrong;
  unsigned long long census[8];
  unsigned long long halt;
};

namespace {

// One block in this many reads the host's word after a chunk and forwards it in device memory: when all 264 blocks of a
// kernel read it at the same time, that took 140 us on an H200.
constexpr unsigned kPolling = 32;

__device__ __forceinline__ bool told_to_stop(Ledger* ledger, const volatile unsigned* stop, unsigned chunk) {
  volatile unsigned long long* halt = &ledger->halt;
  if ((blockIdx.x + chunk) % kPolling == 0 && *stop) *halt = 1;
  return *halt != 0;
}

__device__ __forceinline__ void credit(Ledger* ledger, unsigned long long* bins, unsigned rounds) {
  const unsigned long long bin = global_timer() / ledger->bin_ns - ledger->first_bin;
  const unsigned long long last = ledger->bins - 1;
  atomicAdd(&bins[bin < last ? bin : last], static_cast<unsigned long long>(rounds));
}

}  // namespace

// Every thread does chunks * rounds rounds of arithmetic, however long that takes: unlike a wait by a clock, it takes
// longer on a smaller part of the GPU. After each chunk its rounds are credited to the bin of the device's time; a
// block ends before its next chunk if *stop is set. The last block to end writes the start of the first block and its
// own end to stamps. scratch[0], scratch[1]: 0 before and after.
extern "C" __global__ void __launch_bounds__(1024)
    gvb_load(volatile unsigned long long* stamps, unsigned long long* scratch, Ledger* ledger,
             const volatile unsigned* stop, unsigned chunks, unsigned rounds, unsigned multiplier, unsigned expected) {
  __shared__ unsigned halted;
  unsigned long long* bins = reinterpret_cast<unsigned long long*>(ledger + 1);
  const unsigned long long began = global_timer();
  unsigned x = 0;
  unsigned chunk = 0;
  for (;;) {
    x = work(x, rounds, multiplier);
    ++chunk;
    __syncthreads();
    if (threadIdx.x == 0) {
      credit(ledger, bins, rounds);
      halted = chunk < chunks ? told_to_stop(ledger, stop, chunk) : 1;
    }
    __syncthreads();
    if (halted) break;
  }
  if (chunk == chunks && x != expected) atomicAdd(&ledger->wrong, 1ull);
  if (threadIdx.x != 0) return;
  const unsigned sm = multiprocessor() % 512;
  const unsigned long long bit = 1ull << (sm % 64);
  if ((*const_cast<volatile unsigned long long*>(&ledger->census[sm / 64]) & bit) == 0)
    atomicOr(&ledger->census[sm / 64], bit);
  if (blockIdx.x == 0) scratch[0] = began;
  __threadfence();
  if (atomicAdd(&scratch[1], 1ull) + 1 != gridDim.x) return;
  __threadfence();
  stamps[0] = *const_cast<volatile unsigned long long*>(&scratch[0]);
  stamps[1] = global_timer();
  scratch[0] = 0;
  scratch[1] = 0;
  __threadfence_system();
}

// Waits by the device's clock: the idle time of a limiter between kernels.
extern "C" __global__ void gvb_pause(unsigned long long ns) {
  const unsigned long long began = global_timer();
  while (global_timer() - began < ns) {
  }
}
