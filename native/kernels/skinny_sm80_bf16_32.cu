#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_bf16_32, Bf16, 4, 4, 2)
