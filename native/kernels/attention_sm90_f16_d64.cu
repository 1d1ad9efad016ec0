#include "attention_sm90.cuh"

GVB_ATTENTION_SM90(gvb_attention_sm90_f16_d64, F16, 64)
