#include "skinny_sm80.cuh"

GVB_SKINNY_SM80(gvb_skinny_f16_64, F16, 8, 8, 1)
