#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_bf16_8, Bf16, 1, 1, 2)
