#include "kernels/gemm_sm80.cuh"

GVB_GEMM_SM80(gvb_gemm_sm89_e4m3, gvb::E4m3, gvb::Bf16, 1)
