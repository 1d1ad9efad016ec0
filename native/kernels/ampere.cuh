// Instructions of sm_80 without a C++ equivalent (PTX ISA, "Warp-level matrix instructions" and "Asynchronous copy"),
// and packed half-precision numbers. Kernels that use nothing else also run on the host, in the emulator of
// native/test/emulator.
#pragma once

#include "bench/llm/number_bits.h"

#ifndef __CUDACC__

#include "test/emulator/ampere.h"

#else

// The block's dynamic shared memory, aligned for the widest swizzle pattern.
__device__ __forceinline__ unsigned char* dynamic_shared() {
  extern __shared__ __align__(1024) unsigned char gvb_dynamic_shared[];
  return gvb_dynamic_shared;
}

// The same as an array declared in the kernel. If a function returns it, nvcc 13.0 uses other addresses: an H200
// computed 42.9 TFLOPS in place of 46.8 by an earlier gvb_gemm_f32.
#define GVB_DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void store_shared(uint32_t to, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

__device__ __forceinline__ uint4 load_shared_16(uint32_t from) {
  uint4 value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(from)
               : "memory");
  return value;
}

// Loads 16 bytes of global memory that are not written meanwhile and not read again: bypasses L1 and fetches 256 bytes
// at a time from DRAM. Needs PTX ISA 7.4.
__device__ __forceinline__ uint4 load_once_16(const uint4* from) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
}

// Loads 16 bytes of global memory that an earlier grid may have written and that are not read again: as L2 has them,
// and, from sm_90 on, without a place in L1, which is measurably faster there.
__device__ __forceinline__ uint4 load_current_once_16(const uint4* from) {
#if __CUDA_ARCH__ >= 900
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
#else
  return __ldcg(from);
#endif
}

// Adds to a number of global memory and returns what it was, in order with what the block wrote before a barrier and
// reads after the next one: other blocks that add later then see those writes.
__device__ __forceinline__ unsigned add_ordered(unsigned* number, unsigned value) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(number), "r"(value) : "memory");
  return before;
}

// Prefetches 128 bytes of global memory into L2.
__device__ __forceinline__ void prefetch_line(const void* line) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(line)) : "memory");
}

// Copies 16 bytes from global to shared memory, bypassing L1; writes zeros, without reading, if not `valid`.
__device__ __forceinline__ void copy_async_16(uint32_t to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
               "r"(valid ? 16 : 0)
               : "memory");
}

// Groups the copies since the last call.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all groups but the last kPending are done. Other threads see them after a barrier.
template <unsigned kPending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Programmatic dependent launch (PTX ISA, griddepcontrol). begin_next_grid lets the stream's next grid begin; the other
// function waits for everything the previous grid wrote. Both only have an effect in code for sm_90 and later, and if
// the launch requests it.
__device__ __forceinline__ void begin_next_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_previous_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Loads four matrices of 8 × 8 values of 16 bits; lane i addresses row i % 8 of matrix i / 8.
__device__ __forceinline__ void load_matrices(uint32_t (&to)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(uint32_t (&to)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// m16n8k16: four sums d += a · b.
template <class Format>
__device__ __forceinline__ void multiply_add(float* d, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (Format::kExponent == gvb::F16::kExponent)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else if constexpr (Format::kExponent == gvb::E4m3::kExponent)
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two numbers in one register, the first in the lower half.
template <class Format>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t packed;
  if constexpr (Format::kExponent == gvb::F16::kExponent)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

template <class Format>
__device__ __forceinline__ float2 unpack(uint32_t packed) {
  if constexpr (Format::kExponent == gvb::F16::kExponent) {
    float2 values;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
        : "=f"(values.x), "=f"(values.y)
        : "r"(packed));
    return values;
  } else {
    return {__uint_as_float(packed << 16), __uint_as_float(packed & 0xffff0000u)};
  }
}

// 2^x with a relative error below 2^-22; 0 for minus infinity.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A barrier for `threads` threads of the block; number 0 is __syncthreads.
__device__ __forceinline__ void sync_barrier(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void arrive_barrier(unsigned id, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif

// Byte offset of a 16-byte column in a tile of 128-byte rows that start at a multiple of 1024: the eight rows of a
// matrix fall into eight groups of banks. TMA and wgmma call this pattern the 128-byte swizzle.
__device__ __forceinline__ uint32_t swizzled(uint32_t row, uint32_t column) {
  return row * 128 + ((column ^ row % 8) * 16);
}
