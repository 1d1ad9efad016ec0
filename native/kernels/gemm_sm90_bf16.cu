#include "kernels/gemm_sm90.cuh"

GVB_GEMM_SM90(gvb_gemm_sm90_bf16, gvb::Bf16, gvb::Bf16, 64)
