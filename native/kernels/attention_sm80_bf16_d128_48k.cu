#include "attention_sm80.cuh"

GVB_ATTENTION_SM80(gvb_attention_sm80_bf16_d128_48k, Bf16, 128, 1)
