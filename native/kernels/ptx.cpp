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
GVB_EMBED(faults);
GVB_EMBED(load);
