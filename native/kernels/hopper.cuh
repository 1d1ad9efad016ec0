// Hopper's instructions (PTX ISA 8.0, sm_90a) as functions: barriers in shared memory, tensor maps (TMA), warpgroup
// multiplication and registers per warpgroup. Compiled for the host they are the emulator's (test/emulator/hopper.h).
// References are to sections of the PTX ISA.
//
// Tiles in shared memory have rows of 128 bytes, begin at a multiple of 1024 bytes and are swizzled as TMA does it with
// CU_TENSOR_MAP_SWIZZLE_128B: the 16-byte piece p of row r lies at p ^ (r % 8).
#pragma once

#include <type_traits>

#include "kernels/ampere.cuh"

namespace gvb::hopper {

// What cuTensorMapEncodeTiled fills. A kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

struct alignas(8) Barrier {
  uint64_t word;
};

// A tile for wgmma: start address in bits 0-13, leading offset in 16-29, stride in 32-45 (all in 16 bytes), and 1 in
// bits 62-63 for the 128-byte swizzle ("Matrix Descriptor Format"). Add to the result what advances along K.
constexpr uint64_t describe(uint32_t shared_address, uint32_t leading_bytes, uint32_t stride_bytes) {
  return uint64_t{(shared_address & 0x3ffff) >> 4} | uint64_t{leading_bytes >> 4} << 16 |
         uint64_t{stride_bytes >> 4} << 32 | uint64_t{1} << 62;
}

// How far a descriptor moves by `bytes`.
constexpr uint64_t descriptor_step(uint32_t bytes) { return bytes >> 4; }

}  // namespace gvb::hopper

#ifndef __CUDACC__
#define GVB_DEVICE inline
#include "test/emulator/hopper.h"
#else

#define GVB_DEVICE __device__ __forceinline__

namespace gvb::hopper {

// Rows contiguous along K, in groups of eight; more K in the 128 bytes: + descriptor_step(32) for each 32 bytes.
GVB_DEVICE uint64_t describe_k_major(const void* tile) { return describe(shared_address(tile), 16, 1024); }

// Rows contiguous along M or N ("transposed"), 64 16-bit elements each; further 64 of them lie `block_bytes` behind.
// More K: + descriptor_step(2048) for each 16 rows.
GVB_DEVICE uint64_t describe_mn_major(const void* tile, uint32_t block_bytes) {
  return describe(shared_address(tile), block_bytes, 1024);
}

// Barriers in shared memory. A phase ends when `arrivals` threads have arrived and all announced bytes have come.
GVB_DEVICE void init(Barrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
// After init and before other threads, blocks of the cluster or TMA use them; then synchronise these.
GVB_DEVICE void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
GVB_DEVICE void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// At the barrier of the same place in another block of the cluster.
GVB_DEVICE void arrive_at(Barrier* barrier, unsigned rank) {
  asm volatile(
      "{.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
GVB_DEVICE void arrive_expecting(Barrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
// Until the phase of this parity has ended; the first phase has parity 0. On a fresh barrier, parity 1 returns at once.
GVB_DEVICE void wait(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
// The same where arrivals come from other blocks of the cluster.
GVB_DEVICE void wait_cluster(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Makes this thread's writes to shared memory visible to TMA and wgmma. Before their use, synchronise the writers.
GVB_DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

GVB_DEVICE void prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// Bytes of global memory to shared memory; addresses and count are multiples of 16.
GVB_DEVICE void load_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// A box of a tensor to shared memory, by one thread; its bytes arrive at the barrier. Coordinates are in elements, the
// innermost first.
GVB_DEVICE void load_box(void* to, const TensorMap& map, Barrier* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
GVB_DEVICE void load_box(void* to, const TensorMap& map, Barrier* barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
GVB_DEVICE void load_box(void* to, const TensorMap& map, Barrier* barrier, int x, int y, int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}
// To the same place of every block of the cluster whose bit is set; at each, the bytes arrive at its own barrier.
GVB_DEVICE void load_box_to(unsigned short blocks, void* to, const TensorMap& map, Barrier* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
      "%4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// A box of shared memory to a tensor, by one thread, after fence_async of those who wrote it. What lies outside the
// tensor is left out.
GVB_DEVICE void store_box(const TensorMap& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
}
GVB_DEVICE void store_box(const TensorMap& map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
GVB_DEVICE void store_box(const TensorMap& map, const void* from, int x, int y, int z, int w) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z), "r"(w)
               : "memory");
}
GVB_DEVICE void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until the shared memory of all groups but the `left` latest of this thread has been read.
template <unsigned left>
GVB_DEVICE void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

// Four matrices of 8 × 8 values of 16 bits; lane i names row i % 8 of matrix i / 8.
GVB_DEVICE void store_matrices(uint32_t row, const uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(from[0]),
               "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

// Registers of each thread, by a whole warpgroup.
template <unsigned count>
GVB_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <unsigned count>
GVB_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

GVB_DEVICE unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
GVB_DEVICE void meet_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

// Before the first multiplication, and whenever the threads themselves wrote its registers.
GVB_DEVICE void fence_multiply() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GVB_DEVICE void commit_multiply() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Keeps the compiler from using sums on the wrong side of a wait.
template <unsigned count>
GVB_DEVICE void hold(float (&sums)[count]) {
#pragma unroll
  for (unsigned i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
// Until all groups but the `left` latest are done.
template <unsigned left>
GVB_DEVICE void wait_multiply() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

}  // namespace gvb::hopper

#include "kernels/wgmma.cuh"

#endif
