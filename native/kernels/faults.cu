// Kernels that fail in a known way (IS-010, ERR-001), in a module of their own: only a process that is to be lost loads it.
// Names are extern "C": the simulated driver executes them by name.

#include <cstdint>

#include "timer.cuh"

namespace {

// A limit, so that a card does not stay busy even if the process cannot be killed.
constexpr unsigned long long kEndlessNs = 5000000000ull;

// Where `stamp` is not null: when the thread is about to fail, for the host to find although the context is lost.
__device__ __forceinline__ void note_time(volatile unsigned long long* stamp) {
  if (!stamp) return;
  *stamp = global_timer();
  __threadfence_system();
}

}  // namespace

extern "C" {
__device__ uint32_t gvb_fault_words[4];
__device__ void __assertfail(const void* message, const void* file, unsigned line, const void* function,
                             size_t character_bytes);
}

// The first page is mapped by nobody, neither device nor host: a store far behind an allocation could reach memory of
// the host where the driver lets kernels use all of it (HMM).
extern "C" __global__ void gvb_out_of_bounds(volatile unsigned long long* stamp) {
  note_time(stamp);
  asm volatile("st.global.u32 [%0], %1;" ::"l"(16ull), "r"(1u) : "memory");
}

extern "C" __global__ void gvb_misaligned(volatile unsigned long long* stamp) {
  note_time(stamp);
  const unsigned long long address = __cvta_generic_to_global(gvb_fault_words) + 1;
  asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(1u) : "memory");
}

extern "C" __global__ void gvb_trap(volatile unsigned long long* stamp) {
  note_time(stamp);
  asm volatile("trap;");
}

// What assert() calls; by itself, because the macro would write the path of this file into the PTX.
extern "C" __global__ void gvb_assert(volatile unsigned long long* stamp) {
  note_time(stamp);
  __assertfail("a device assert, on purpose", "faults.cu", 0, "gvb_assert", 1);
}

// Every block spins until its process is killed, or for kEndlessNs.
extern "C" __global__ void gvb_endless() {
  const unsigned long long first = global_timer();
  while (global_timer() - first < kEndlessNs) {
  }
}
