#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_f16_8, F16, 1, 1, 2)
