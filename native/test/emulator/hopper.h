// Host versions of the functions in native/kernels/hopper.cuh. Tensor maps are the simulator's (sim/work/tensor_map.h).
#pragma once

#include "kernels/hopper.cuh"
#include "test/emulator/cuda.h"

#define __cluster_dims__(...)

namespace gvb::emulator {

enum class Factor { kF16, kBf16, kE4m3 };

template <class Format>
constexpr Factor kFactor = std::is_same_v<Format, gvb::F16>    ? Factor::kF16
                           : std::is_same_v<Format, gvb::Bf16> ? Factor::kBf16
                                                               : Factor::kE4m3;

// One wgmma of a warpgroup; `registers` of A are null if A is in shared memory.
struct WarpgroupMultiply {
  float* sums;
  unsigned columns;
  const uint32_t* registers;
  uint64_t a, b;
  bool transpose_b, add;
  Factor factor;
};

void barrier_init(uint32_t barrier, unsigned arrivals);
void barrier_arrive(uint32_t barrier);
void barrier_expect(uint32_t barrier, unsigned bytes);  // and arrives
void barrier_wait(uint32_t barrier, unsigned parity);
uint32_t in_block(uint32_t address, unsigned rank);  // the same place in another block of the cluster

void bytes_load(uint32_t to, const void* from, unsigned bytes, uint32_t barrier);
void tensor_load(uint32_t to, const gvb::hopper::TensorMap& map, uint32_t barrier, std::initializer_list<int> at,
                 unsigned short blocks);
void tensor_store(const gvb::hopper::TensorMap& map, uint32_t from, std::initializer_list<int> at);
void commit_tensor_stores();
void wait_tensor_stores(unsigned left);

void store_four(uint32_t row, const uint32_t (&from)[4]);

void warpgroup_fence();
void warpgroup_multiply(WarpgroupMultiply operands);
void warpgroup_commit();
void warpgroup_wait(unsigned left);
void warpgroup_registers(unsigned count);

}  // namespace gvb::emulator

namespace gvb::hopper {

inline uint64_t describe_k_major(const void* tile) { return describe(shared_address(tile), 16, 1024); }
inline uint64_t describe_mn_major(const void* tile, uint32_t block_bytes) {
  return describe(shared_address(tile), block_bytes, 1024);
}

inline void init(Barrier* barrier, unsigned arrivals) { emulator::barrier_init(shared_address(barrier), arrivals); }
inline void fence_init() {}
inline void arrive(Barrier* barrier) { emulator::barrier_arrive(shared_address(barrier)); }
inline void arrive_at(Barrier* barrier, unsigned rank) {
  emulator::barrier_arrive(emulator::in_block(shared_address(barrier), rank));
}
inline void arrive_expecting(Barrier* barrier, unsigned bytes) {
  emulator::barrier_expect(shared_address(barrier), bytes);
}
inline void wait(Barrier* barrier, unsigned parity) { emulator::barrier_wait(shared_address(barrier), parity); }
inline void wait_cluster(Barrier* barrier, unsigned parity) { wait(barrier, parity); }
inline void fence_async() {}
inline void prefetch(const TensorMap&) {}

inline void load_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier) {
  emulator::bytes_load(shared_address(to), from, bytes, shared_address(barrier));
}
// No caches, so no policies.
inline uint64_t evict_first() { return 0; }
inline void load_bytes(void* to, const void* from, unsigned bytes, Barrier* barrier, uint64_t) {
  load_bytes(to, from, bytes, barrier);
}
template <class... Coordinate>
void load_box(void* to, const TensorMap& map, Barrier* barrier, Coordinate... at) {
  emulator::tensor_load(shared_address(to), map, shared_address(barrier), {static_cast<int>(at)...}, 0);
}
inline void load_box_to(unsigned short blocks, void* to, const TensorMap& map, Barrier* barrier, int x, int y) {
  emulator::tensor_load(shared_address(to), map, shared_address(barrier), {x, y}, blocks);
}
template <class... Coordinate>
void store_box(const TensorMap& map, const void* from, Coordinate... at) {
  emulator::tensor_store(map, shared_address(from), {static_cast<int>(at)...});
}
inline void commit_stores() { emulator::commit_tensor_stores(); }
template <unsigned left>
void wait_stores_read() {
  emulator::wait_tensor_stores(left);
}

inline void store_matrices(uint32_t row, const uint32_t (&from)[4]) { emulator::store_four(row, from); }

template <unsigned count>
void give_registers() {
  emulator::warpgroup_registers(count);
}
template <unsigned count>
void take_registers() {
  emulator::warpgroup_registers(count);
}

inline unsigned rank_in_cluster() { return emulator::block().rank; }
void meet_cluster();

inline void fence_multiply() { emulator::warpgroup_fence(); }
inline void commit_multiply() { emulator::warpgroup_commit(); }
template <unsigned count>
void hold(float (&)[count]) {}
template <unsigned left>
void wait_multiply() {
  emulator::warpgroup_wait(left);
}

template <class Format, bool transpose_b = false, unsigned count>
void multiply(float (&sums)[count], uint64_t a, uint64_t b, bool add = true) {
  emulator::warpgroup_multiply({sums, 2 * count, nullptr, a, b, transpose_b, add, emulator::kFactor<Format>});
}
template <class Format, bool transpose_b = false, unsigned count>
void multiply(float (&sums)[count], const uint32_t (&a)[4], uint64_t b, bool add = true) {
  emulator::warpgroup_multiply({sums, 2 * count, a, 0, b, transpose_b, add, emulator::kFactor<Format>});
}

}  // namespace gvb::hopper
