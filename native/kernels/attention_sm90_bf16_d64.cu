#include "attention_sm90_pipelined.cuh"

GVB_ATTENTION_SM90(gvb_attention_sm90_bf16_d64, PipelinedConsumer, Bf16, 64)
