// Kernels that fail in a known way (IS-010), in a module of their own: only a process that may be lost loads it. Names
// are extern "C": the simulated driver executes them by name.

#include <cstdint>

#include "timer.cuh"

namespace {

// A limit, so that a card does not stay busy even if the process cannot be killed.
constexpr unsigned long long kEndlessNs = 5000000000ull;

}  // namespace

extern "C" {
__device__ uint32_t gvb_fault_words[4];
__device__ void __assertfail(const void* message, const void* file, unsigned line, const void* function,
                             size_t character_bytes);
}

// The first page is never mapped, on the device or the host. A store far beyond an allocation could instead reach host
// memory, if the driver lets kernels use all of it (HMM).
extern "C" __global__ void gvb_out_of_bounds() {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(16ull), "r"(1u) : "memory");
}

extern "C" __global__ void gvb_misaligned() {
  const unsigned long long address = __cvta_generic_to_global(gvb_fault_words) + 1;
  asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(1u) : "memory");
}

extern "C" __global__ void gvb_trap() { asm volatile("trap;"); }

// What assert() calls; called directly, because the macro would write the path of this file into the PTX.
extern "C" __global__ void gvb_assert() {
  __assertfail("a device assert, on purpose", "faults.cu", 0, "gvb_assert", 1);
}

// Every block spins until its process is killed, or for kEndlessNs.
extern "C" __global__ void gvb_endless() {
  const unsigned long long first = global_timer();
  while (global_timer() - first < kEndlessNs) {
  }
}
