#include "attention_sm90.cuh"

GVB_ATTENTION_SM90(gvb_attention_sm90_f16_d128, Consumer, F16, 128)
