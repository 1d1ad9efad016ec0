#include "kernels/ptx.h"

// The assembler includes the text itself (found through -I native), so no generated source can go stale.
#define GVB_EMBED(module)                               \
  __asm__(                                              \
      ".section .rodata\n"                              \
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
