// Kernels that leave a 128-bit tag in memory, and kernels that look for it in memory they never wrote (IS-005). In a
// module of their own. Names are extern "C": the simulated driver executes them by name.
//
// The searching process receives only the tag's mark, each word times kMark: the tag itself would stay in that
// process's registers and parameters, and it would find its own copy.
//
// found[0]: units of 16 bytes that are the tag; found[1]: other units that are not zero. The host sets both to 0.

#include <cstdint>

namespace {

constexpr uint32_t kMark = 2654435761u;  // odd, so that different words have different marks

// Shared memory per block: the amount available without opting in.
constexpr unsigned kSharedUnits = 48 * 1024 / 16;
// Local memory per thread.
constexpr unsigned kLocalUnits = 64;

struct Words {
  uint32_t x, y, z, w;
};

__device__ __forceinline__ Words words_of(unsigned long long low, unsigned long long high) {
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
          static_cast<uint32_t>(high >> 32)};
}

struct Counts {
  unsigned long long tagged = 0, other = 0;

  __device__ __forceinline__ void look(uint32_t x, uint32_t y, uint32_t z, uint32_t w, const Words& mark) {
    if (x * kMark == mark.x && y * kMark == mark.y && z * kMark == mark.z && w * kMark == mark.w)
      ++tagged;
    else if ((x | y | z | w) != 0)
      ++other;
  }

  __device__ __forceinline__ void publish(unsigned long long* found) const {
    if (tagged) atomicAdd(&found[0], tagged);
    if (other) atomicAdd(&found[1], other);
  }
};

}  // namespace

extern "C" __global__ void gvb_tag_fill(uint4* units, unsigned long long count, unsigned long long low,
                                        unsigned long long high) {
  const Words tag = words_of(low, high);
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    units[i] = make_uint4(tag.x, tag.y, tag.z, tag.w);
}

extern "C" __global__ void gvb_tag_scan(const uint4* units, unsigned long long count, unsigned long long mark_low,
                                        unsigned long long mark_high, unsigned long long* found) {
  const Words mark = words_of(mark_low, mark_high);
  Counts counts;
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const uint4 unit = units[i];
    counts.look(unit.x, unit.y, unit.z, unit.w, mark);
  }
  counts.publish(found);
}

namespace {

// In assembly, so that no compiler reasons about memory that was never written.
__device__ __forceinline__ void read_unit(unsigned address, uint32_t* unit) {
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(unit[0]), "=r"(unit[1]), "=r"(unit[2]), "=r"(unit[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void scan_shared(unsigned base, const Words& mark, unsigned long long* found) {
  Counts counts;
  for (unsigned i = threadIdx.x; i < kSharedUnits; i += blockDim.x) {
    uint32_t unit[4];
    read_unit(base + i * 16, unit);
    counts.look(unit[0], unit[1], unit[2], unit[3], mark);
  }
  counts.publish(found);
}

}  // namespace

// Writes all its shared memory and scans it as gvb_shared_scan does.
extern "C" __global__ void gvb_shared_fill(unsigned long long low, unsigned long long high, unsigned long long mark_low,
                                           unsigned long long mark_high, unsigned long long* found) {
  __shared__ uint4 units[kSharedUnits];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(units));
  const Words tag = words_of(low, high);
  for (unsigned i = threadIdx.x; i < kSharedUnits; i += blockDim.x)
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(base + i * 16), "r"(tag.x), "r"(tag.y),
                 "r"(tag.z), "r"(tag.w)
                 : "memory");
  __syncthreads();
  scan_shared(base, words_of(mark_low, mark_high), found);
}

extern "C" __global__ void gvb_shared_scan(unsigned long long mark_low, unsigned long long mark_high,
                                           unsigned long long* found) {
  __shared__ uint4 units[kSharedUnits];
  scan_shared(static_cast<unsigned>(__cvta_generic_to_shared(units)), words_of(mark_low, mark_high), found);
}

namespace {

// Declares the array for the functions below, with an address that the compiler cannot follow.
__device__ __forceinline__ void declare_local() { asm volatile(".local .align 16 .b8 gvb_local[1024];" ::: "memory"); }

__device__ __forceinline__ void fill_local(const Words& tag) {
#pragma unroll 1
  for (unsigned long long at = 0; at < kLocalUnits * 16; at += 16)
    asm volatile(
        "{ .reg .u64 at; mov.u64 at, gvb_local; add.u64 at, at, %0; st.local.v4.u32 [at], {%1, %2, %3, %4}; }" ::"l"(
            at),
        "r"(tag.x), "r"(tag.y), "r"(tag.z), "r"(tag.w)
        : "memory");
}

// Not in the loop of the stores: ptxas would take the values from registers.
__device__ __forceinline__ void scan_local(const Words& mark, unsigned long long* found) {
  Counts counts;
#pragma unroll 1
  for (unsigned long long at = 0; at < kLocalUnits * 16; at += 16) {
    uint32_t unit[4];
    asm volatile("{ .reg .u64 at; mov.u64 at, gvb_local; add.u64 at, at, %4; ld.local.v4.u32 {%0, %1, %2, %3}, [at]; }"
                 : "=r"(unit[0]), "=r"(unit[1]), "=r"(unit[2]), "=r"(unit[3])
                 : "l"(at)
                 : "memory");
    counts.look(unit[0], unit[1], unit[2], unit[3], mark);
  }
  counts.publish(found);
}

}  // namespace

// Writes its local memory and scans it as gvb_local_scan does.
extern "C" __global__ void gvb_local_fill(unsigned long long low, unsigned long long high, unsigned long long mark_low,
                                          unsigned long long mark_high, unsigned long long* found) {
  declare_local();
  fill_local(words_of(low, high));
  scan_local(words_of(mark_low, mark_high), found);
}

extern "C" __global__ void gvb_local_scan(unsigned long long mark_low, unsigned long long mark_high,
                                          unsigned long long* found) {
  declare_local();
  scan_local(words_of(mark_low, mark_high), found);
}

namespace {

// Aligned groups of four registers, as a 16-byte load fills them.
constexpr unsigned kRegisterUnits = 24;

#define GVB_LOAD(a, b, c, d) "@p ld.volatile.global.v4.u32 {%" #a ", %" #b ", %" #c ", %" #d "}, [%96];\n"
#define GVB_OUT(i) "=r"(any[i][0]), "=r"(any[i][1]), "=r"(any[i][2]), "=r"(any[i][3])
#define GVB_OUT4(i) GVB_OUT(i), GVB_OUT(i + 1), GVB_OUT(i + 2), GVB_OUT(i + 3)

// Loads the registers only if `fill` is set at run time: ptxas gives a register that is never written no place of its
// own (seen: all of them were R1), but keeps one that may have been written.
__device__ __forceinline__ void visit_registers(const uint4* tag_at, unsigned fill, const Words& mark,
                                                unsigned long long* found) {
  uint32_t any[kRegisterUnits][4];
  asm volatile("{ .reg .pred p;\nsetp.ne.u32 p, %97, 0;\n"
               // clang-format off
      GVB_LOAD(0, 1, 2, 3)
      GVB_LOAD(4, 5, 6, 7)
      GVB_LOAD(8, 9, 10, 11)
      GVB_LOAD(12, 13, 14, 15)
      GVB_LOAD(16, 17, 18, 19)
      GVB_LOAD(20, 21, 22, 23)
      GVB_LOAD(24, 25, 26, 27)
      GVB_LOAD(28, 29, 30, 31)
      GVB_LOAD(32, 33, 34, 35)
      GVB_LOAD(36, 37, 38, 39)
      GVB_LOAD(40, 41, 42, 43)
      GVB_LOAD(44, 45, 46, 47)
      GVB_LOAD(48, 49, 50, 51)
      GVB_LOAD(52, 53, 54, 55)
      GVB_LOAD(56, 57, 58, 59)
      GVB_LOAD(60, 61, 62, 63)
      GVB_LOAD(64, 65, 66, 67)
      GVB_LOAD(68, 69, 70, 71)
      GVB_LOAD(72, 73, 74, 75)
      GVB_LOAD(76, 77, 78, 79)
      GVB_LOAD(80, 81, 82, 83)
      GVB_LOAD(84, 85, 86, 87)
      GVB_LOAD(88, 89, 90, 91)
      GVB_LOAD(92, 93, 94, 95)
               // clang-format on
               "}"
               : GVB_OUT4(0), GVB_OUT4(4), GVB_OUT4(8), GVB_OUT4(12), GVB_OUT4(16), GVB_OUT4(20)
               : "l"(tag_at), "r"(fill)
               : "memory");
  Counts counts;
#pragma unroll
  for (unsigned i = 0; i < kRegisterUnits; ++i) counts.look(any[i][0], any[i][1], any[i][2], any[i][3], mark);
  counts.publish(found);
}

#undef GVB_LOAD
#undef GVB_OUT
#undef GVB_OUT4

}  // namespace

// Reads registers that it never wrote or, with `fill`, after loading the tag from `tag_at` into all of them.
extern "C" __global__ void gvb_registers(const uint4* tag_at, unsigned fill, unsigned long long mark_low,
                                         unsigned long long mark_high, unsigned long long* found) {
  visit_registers(tag_at, fill, words_of(mark_low, mark_high), found);
}
