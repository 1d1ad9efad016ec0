#include "kernels/ptx.h"

// The assembler includes the file itself (found through -I native), so no generated source can go stale. Each is a
// section of its own, so that the linker leaves out those that a library or program does not use.
#define GVB_EMBED(module)                                   \
  __asm__(".section .rodata.gvb_ptx_" #module               \
          ",\"a\"\n"                                        \
          ".global gvb_ptx_" #module                        \
          "\n"                                              \
          ".hidden gvb_ptx_" #module                        \
          "\n"                                              \
          ".type gvb_ptx_" #module                          \
          ", %object\n"                                     \
          "gvb_ptx_" #module                                \
          ":\n"                                             \
          ".incbin \"kernels/ptx/" #module                  \
          ".ptx\"\n"                                        \
          ".byte 0\n"                                       \
          ".size gvb_ptx_" #module ", . - gvb_ptx_" #module \
          "\n"                                              \
          ".previous\n")

GVB_EMBED(base);
GVB_EMBED(work);
GVB_EMBED(faults);
GVB_EMBED(residue);
GVB_EMBED(load);
GVB_EMBED(aggressors);
GVB_EMBED(requests);
GVB_EMBED(trace);
GVB_EMBED(normal);
GVB_EMBED(skinny);
GVB_EMBED(attention_sm80_bf16_d128);
GVB_EMBED(attention_sm80_bf16_d64);
GVB_EMBED(attention_sm80_f16_d128);
GVB_EMBED(attention_sm80_f16_d64);
GVB_EMBED(decoder);
GVB_EMBED(decoder_sm90);
GVB_EMBED(stream);
GVB_EMBED(pages);
GVB_EMBED(pipeline);
GVB_EMBED(bandwidth);
GVB_EMBED(chase);
GVB_EMBED(skinny_sm80_bf16_8);
GVB_EMBED(skinny_sm80_bf16_16);
GVB_EMBED(skinny_sm80_bf16_32);
GVB_EMBED(skinny_sm80_bf16_64);
GVB_EMBED(skinny_sm80_f16_8);
GVB_EMBED(skinny_sm80_f16_16);
GVB_EMBED(skinny_sm80_f16_32);
GVB_EMBED(skinny_sm80_f16_64);
GVB_EMBED(gemm_f32);
GVB_EMBED(gemm_sm80_bf16);
GVB_EMBED(gemm_sm80_f16);
GVB_EMBED(gemm_sm89_e4m3);
GVB_EMBED(gemm_sm90_bf16);
GVB_EMBED(gemm_sm90_e4m3);
GVB_EMBED(gemm_sm90_f16);
GVB_EMBED(attention_sm90_bf16_d128);
GVB_EMBED(attention_sm90_bf16_d64);
GVB_EMBED(attention_sm90_f16_d128);
GVB_EMBED(attention_sm90_f16_d64);
GVB_EMBED(checksum);
GVB_EMBED(copies);
GVB_EMBED(collectives);
GVB_EMBED(ordered_sum);
GVB_EMBED(strong_loads);
