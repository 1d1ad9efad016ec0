#include "kernels/gemm_sm90.cuh"

GVB_GEMM_SM90(gvb_gemm_sm90_e4m3, gvb::E4m3, gvb::Bf16, 128)
