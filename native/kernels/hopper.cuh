// Hopper's instructions (PTX ISA 8.0, sm_90a) as functions: barriers in shared memory, tensor maps (TMA), warpgroup
// multiplication and registers per warpgroup. On the host the emulator (test/emulator/hopper.h) replaces them.
// References are to sections of the PTX ISA.
//
// Tiles in shared memory have rows of 128 bytes, begin at a multiple of 1024 bytes and use TMA's
// CU_TENSOR_MAP_SWIZZLE_128B: the 16-byte piece p of row r is at p ^ (r % 8).
#pragma once

#include <type_traits>

#include "kernels/ampere.cuh"

namespace gvb::hopper {

// Filled by cuTensorMapEncodeTiled. A kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

struct alignas(8) Barrier {
  uint64_t word;
};

// A tile for wgmma: start address in bits 0-13, leading offset in 16-29, stride in 32-45 (all in 16 bytes), and 1 in
// bits 62-63 for the 128-byte swizzle ("Matrix Descriptor Format"). To advance along K, add descriptor_step().
constexpr uint64_t describe(uint32_t shared_address, uint32_t leading_bytes, uint32_t stride_bytes) {
  return uint64_t{(shared_address & 0x3ffff) >> 4} | uint64_t{leading_bytes >> 4} << 16 |
         uint64_t{stride_bytes >> 4} << 32 | uint64_t{1} << 62;
}

// The change of a descriptor that advances by `bytes`.
constexpr uint64_t descriptor_step(uint32_t bytes) { return bytes >> 4; }

}  // namespace gvb::hopper

#ifndef __CUDACC__
#define GVB_DEVICE inline
#include "test/emulator/hopper.h"
#else

#define GVB_DEVICE __device__ __forceinline__

namespace gvb::hopper {

// Rows contiguous along K, in groups of eight. To advance along K within the 128 bytes: + descriptor_step(32) per 32
// bytes.
GVB_DEVICE uint64_t describe_k_major(const void* tile) { return describe(shared_address(tile), 16, 1024); }

// Rows contiguous along M or N ("transposed"), 64 16-bit elements each; the next 64 are `block_bytes` further. To
// advance along K: + descriptor_step(2048) per 16 rows.
GVB_DEVICE uint64_t describe_mn_major(const void* tile, uint32_t block_bytes) {
  return describe(shared_address(tile), block_bytes, 1024);
}

// Barriers in shared memory. A phase ends once `arrivals` threads and all announced bytes have arrived.
GVB_DEVICE void init(Barrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
// Call after init; then synchronise the other threads, blocks of the cluster or TMA before they use the barrier.
GVB_DEVICE void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
GVB_DEVICE void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// Arrives at the barrier at the same place in another block of the cluster.
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
// Waits until the phase of this parity has ended; the first phase has parity 0. On a new barrier, parity 1 returns at
// once.
GVB_DEVICE void wait(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
// The same for arrivals from other blocks of the cluster.
GVB_DEVICE void wait_cluster(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Makes this thread's writes to shared memory visible to TMA and wgmma. Synchronise the writers before use.
GVB_DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

GVB_DEVICE void prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// Copies global to shared memory; addresses and count are multiples of 16.
GVB_DEVICE void load_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// An L2 policy for data that is read once: its lines are the first to be evicted ("createpolicy").
GVB_DEVICE uint64_t evict_first() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
// load_bytes with an L2 policy ("cp.async.bulk", .L2::cache_hint).
GVB_DEVICE void load_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}

// Copies a box of a tensor to shared memory; called by one thread. Its bytes arrive at the barrier. Coordinates are in
// elements, innermost first.
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
// Copies to the same place in every block of the cluster whose bit is set; the bytes arrive at each block's own
// barrier.
GVB_DEVICE void load_box_to(unsigned short blocks, void* to, const TensorMap& map, Barrier* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
      "%4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// Copies a box of shared memory to a tensor; called by one thread, after the writers' fence_async. Elements outside the
// tensor are dropped.
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
// Waits until the shared memory of all but this thread's `left` latest groups has been read.
template <unsigned left>
GVB_DEVICE void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

// Stores four matrices of 8 × 8 values of 16 bits; lane i addresses row i % 8 of matrix i / 8.
GVB_DEVICE void store_matrices(uint32_t row, const uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(from[0]),
               "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

// Registers per thread; called by a whole warpgroup.
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

// Call before the first multiplication, and after the threads themselves wrote its registers.
GVB_DEVICE void fence_multiply() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GVB_DEVICE void commit_multiply() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Keeps the compiler from moving uses of sums across a wait.
template <unsigned count>
GVB_DEVICE void hold(float (&sums)[count]) {
#pragma unroll
  for (unsigned i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
// Waits until all but the `left` latest groups are done.
template <unsigned left>
GVB_DEVICE void wait_multiply() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

}  // namespace gvb::hopper

#include "kernels/wgmma.cuh"

#endif
