// wgmma.mma_async m64nNk16 (16-bit factors) and m64nNk32 (8-bit factors) with single-precision sums, by a warpgroup.
// Sum i of thread t is at row 16 (t / 32) + t % 32 / 4 + 8 (i / 2 % 2) and column 8 (i / 4) + 2 (t % 4) + i % 2
// ("Register Fragments and Shared Memory Matrix Layouts"). Included by hopper.cuh.
#pragma once

// The names of asm operands and the sums they stand for, 16 at a time.
#define GVB_NAMES_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define GVB_NAMES_1 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define GVB_NAMES_2 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define GVB_NAMES_3 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define GVB_NAMES_4 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define GVB_NAMES_5 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define GVB_NAMES_6 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define GVB_NAMES_7 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define GVB_SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define GVB_SUMS(i) GVB_SUMS_4(16 * i), GVB_SUMS_4(16 * i + 4), GVB_SUMS_4(16 * i + 8), GVB_SUMS_4(16 * i + 12)

#define GVB_NAMES_32 GVB_NAMES_0
#define GVB_NAMES_64 GVB_NAMES_0 "," GVB_NAMES_1
#define GVB_NAMES_96 GVB_NAMES_64 "," GVB_NAMES_2
#define GVB_NAMES_128 GVB_NAMES_96 "," GVB_NAMES_3
#define GVB_NAMES_160 GVB_NAMES_128 "," GVB_NAMES_4
#define GVB_NAMES_192 GVB_NAMES_160 "," GVB_NAMES_5
#define GVB_NAMES_224 GVB_NAMES_192 "," GVB_NAMES_6
#define GVB_NAMES_256 GVB_NAMES_224 "," GVB_NAMES_7
#define GVB_SUMS_OF_32 GVB_SUMS(0)
#define GVB_SUMS_OF_64 GVB_SUMS_OF_32, GVB_SUMS(1)
#define GVB_SUMS_OF_96 GVB_SUMS_OF_64, GVB_SUMS(2)
#define GVB_SUMS_OF_128 GVB_SUMS_OF_96, GVB_SUMS(3)
#define GVB_SUMS_OF_160 GVB_SUMS_OF_128, GVB_SUMS(4)
#define GVB_SUMS_OF_192 GVB_SUMS_OF_160, GVB_SUMS(5)
#define GVB_SUMS_OF_224 GVB_SUMS_OF_192, GVB_SUMS(6)
#define GVB_SUMS_OF_256 GVB_SUMS_OF_224, GVB_SUMS(7)

// `factors`: the PTX of type and shape. In _SS the operands after the sums are A, B and whether to add to the sums; in
// _RS four registers of A come first. `transposed` is the PTX of the transposition immediates.
#define GVB_WGMMA_SS(n, factors, a_, b_, add_, transposed)                                                     \
  asm volatile("{.reg .pred add;\nsetp.ne.b32 add, " add_ ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n factors \
               "{" GVB_NAMES_##n "}, " a_ ", " b_ ", add, 1, 1" transposed ";}"                                \
               : GVB_SUMS_OF_##n                                                                               \
               : "l"(a), "l"(b), "r"(static_cast<int>(add)))
#define GVB_WGMMA_RS(n, factors, a0_, a1_, a2_, a3_, b_, add_, transposed)                                     \
  asm volatile("{.reg .pred add;\nsetp.ne.b32 add, " add_ ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n factors \
               "{" GVB_NAMES_##n "}, {" a0_ "," a1_ "," a2_ "," a3_ "}, " b_ ", add, 1, 1" transposed ";}"     \
               : GVB_SUMS_OF_##n                                                                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)))

namespace gvb::hopper {

template <unsigned n>
struct Wgmma;

// The numbers are those of the operands after the sums.
#define GVB_WGMMA(n, o0, o1, o2, o3, o4, o5)                                                               \
  template <>                                                                                              \
  struct Wgmma<n> {                                                                                        \
    template <class Type, bool transpose_b>                                                                \
    GVB_DEVICE static void shared(float (&sums)[n / 2], uint64_t a, uint64_t b, bool add) {                \
      if constexpr (std::is_same_v<Type, E4m3>)                                                            \
        GVB_WGMMA_SS(n, "k32.f32.e4m3.e4m3 ", o0, o1, o2, "");                                             \
      else if constexpr (std::is_same_v<Type, F16>)                                                        \
        if constexpr (transpose_b)                                                                         \
          GVB_WGMMA_SS(n, "k16.f32.f16.f16 ", o0, o1, o2, ", 0, 1");                                       \
        else                                                                                               \
          GVB_WGMMA_SS(n, "k16.f32.f16.f16 ", o0, o1, o2, ", 0, 0");                                       \
      else if constexpr (transpose_b)                                                                      \
        GVB_WGMMA_SS(n, "k16.f32.bf16.bf16 ", o0, o1, o2, ", 0, 1");                                       \
      else                                                                                                 \
        GVB_WGMMA_SS(n, "k16.f32.bf16.bf16 ", o0, o1, o2, ", 0, 0");                                       \
    }                                                                                                      \
    template <class Type, bool transpose_b>                                                                \
    GVB_DEVICE static void registers(float (&sums)[n / 2], const uint32_t (&a)[4], uint64_t b, bool add) { \
      if constexpr (std::is_same_v<Type, E4m3>)                                                            \
        GVB_WGMMA_RS(n, "k32.f32.e4m3.e4m3 ", o0, o1, o2, o3, o4, o5, "");                                 \
      else if constexpr (std::is_same_v<Type, F16>)                                                        \
        if constexpr (transpose_b)                                                                         \
          GVB_WGMMA_RS(n, "k16.f32.f16.f16 ", o0, o1, o2, o3, o4, o5, ", 1");                              \
        else                                                                                               \
          GVB_WGMMA_RS(n, "k16.f32.f16.f16 ", o0, o1, o2, o3, o4, o5, ", 0");                              \
      else if constexpr (transpose_b)                                                                      \
        GVB_WGMMA_RS(n, "k16.f32.bf16.bf16 ", o0, o1, o2, o3, o4, o5, ", 1");                              \
      else                                                                                                 \
        GVB_WGMMA_RS(n, "k16.f32.bf16.bf16 ", o0, o1, o2, o3, o4, o5, ", 0");                              \
    }                                                                                                      \
  }

GVB_WGMMA(32, "%16", "%17", "%18", "%19", "%20", "%21");
GVB_WGMMA(64, "%32", "%33", "%34", "%35", "%36", "%37");
GVB_WGMMA(96, "%48", "%49", "%50", "%51", "%52", "%53");
GVB_WGMMA(128, "%64", "%65", "%66", "%67", "%68", "%69");
GVB_WGMMA(160, "%80", "%81", "%82", "%83", "%84", "%85");
GVB_WGMMA(192, "%96", "%97", "%98", "%99", "%100", "%101");
GVB_WGMMA(224, "%112", "%113", "%114", "%115", "%116", "%117");
GVB_WGMMA(256, "%128", "%129", "%130", "%131", "%132", "%133");

// sums (64 × 2·count) = A · Bᵀ, plus the previous sums with `add`. A and B are in shared memory; B by its rows of N, or
// by rows of K with transpose_b (16-bit factors only).
template <class Type, bool transpose_b = false, unsigned count>
GVB_DEVICE void multiply(float (&sums)[count], uint64_t a, uint64_t b, bool add = true) {
  Wgmma<2 * count>::template shared<Type, transpose_b>(sums, a, b, add);
}

// A is in registers, packed with the first of two values in the low half: register 0 holds row t % 32 / 4 and columns 2
// (t % 4), + 1; register 1 the row + 8; registers 2 and 3 the columns + 8.
template <class Type, bool transpose_b = false, unsigned count>
GVB_DEVICE void multiply(float (&sums)[count], const uint32_t (&a)[4], uint64_t b, bool add = true) {
  Wgmma<2 * count>::template registers<Type, transpose_b>(sums, a, b, add);
}

}  // namespace gvb::hopper
