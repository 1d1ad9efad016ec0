#include "attention_sm90.cuh"

GVB_ATTENTION_SM90(gvb_attention_sm90_bf16_d128, Consumer, Bf16, 128)
