#include "kernels/ptx.h"

// The assembler includes the text itself (found through -I native), so no generated source can go stale.
__asm__(
    ".section .rodata\n"
    ".global gvb_ptx_base\n"
    ".hidden gvb_ptx_base\n"
    ".type gvb_ptx_base, %object\n"
    "gvb_ptx_base:\n"
    ".incbin \"kernels/ptx/base.ptx\"\n"
    ".byte 0\n"
    ".size gvb_ptx_base, . - gvb_ptx_base\n"
    ".previous\n");
