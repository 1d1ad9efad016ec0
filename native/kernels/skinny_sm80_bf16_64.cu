#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_bf16_64, Bf16, 8, 8, 1)
