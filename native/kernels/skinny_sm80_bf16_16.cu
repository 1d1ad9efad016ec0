#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_bf16_16, Bf16, 2, 2, 2)
