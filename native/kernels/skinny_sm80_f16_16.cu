#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_f16_16, F16, 2, 2, 2)
