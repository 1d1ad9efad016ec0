// Kernels that every metric can rely on, compiled for sm_75 with a lowered PTX ISA that old drivers accept. Names are
// extern "C": the simulated driver executes them by name.

#include <cstdint>

#include "timer.cuh"

extern "C" __global__ void gvb_empty() {}

// Reads the device-wide timer as its first instruction; one thread publishes it to host-mapped memory.
extern "C" __global__ void gvb_stamp(volatile unsigned long long* slot) {
  const unsigned long long now = global_timer();
  if (threadIdx.x == 0 && blockIdx.x == 0) *slot = now;
}

// Ping-pong with the host, one thread: waits for *request == i, answers with the device time in replies[i - 1]. Ends,
// leaving the remaining replies 0, when the host is silent for longer than patienceNs.
extern "C" __global__ void gvb_clock_echo(volatile unsigned* request, volatile unsigned long long* replies,
                                          unsigned exchanges, unsigned long long patienceNs) {
  unsigned long long last = global_timer();
  for (unsigned i = 1; i <= exchanges; ++i) {
    while (*request < i) {
      if (global_timer() - last > patienceNs) return;
    }
    last = global_timer();
    replies[i - 1] = last;
  }
}

// Consecutive distinct readings of the device timer; the smallest difference is its step.
extern "C" __global__ void gvb_timer_steps(unsigned long long* out, unsigned count) {
  unsigned long long last = global_timer();
  for (unsigned i = 0; i < count; ++i) {
    unsigned long long now = global_timer();
    while (now == last) now = global_timer();
    out[i] = now;
    last = now;
  }
}

// words[i] = (i + seed) * 2654435761 (mod 2^32): a result the host can verify.
extern "C" __global__ void gvb_mix(uint32_t* words, unsigned count, unsigned seed) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    words[i] = (i + seed) * 2654435761u;
}

// Ends at once. Each block adds 1 to *blocks, so that the host can tell whether every launch ran.
extern "C" __global__ void gvb_count(unsigned long long* blocks) {
  if (threadIdx.x == 0) atomicAdd(blocks, 1ull);
}

// Occupies the device: every block spins for spinNs, so that the grid's size sets the kernel's length. stamps[0] is
// when block 0 began; stamps[1], which the host sets to 0, when the last block ended. *blocks, which may be null: see
// gvb_count.
extern "C" __global__ void gvb_occupy(unsigned long long* stamps, unsigned long long spinNs,
                                      unsigned long long* blocks) {
  const unsigned long long first = global_timer();
  unsigned long long last = first;
  while (last - first < spinNs) last = global_timer();
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) stamps[0] = first;
  atomicMax(&stamps[1], last);
  if (blocks) atomicAdd(blocks, 1ull);
}
