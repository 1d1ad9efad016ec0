#include "attention_sm90_pipelined.cuh"

GVB_ATTENTION_SM90(gvb_attention_sm90_f16_d64, PipelinedConsumer, F16, 64)
