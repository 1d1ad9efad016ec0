#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_f16_32, F16, 4, 4, 2)
