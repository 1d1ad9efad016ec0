#include "attention_sm80.cuh"

GVB_ATTENTION_SM80(gvb_attention_sm80_bf16_d64, Bf16, 64, 2)
