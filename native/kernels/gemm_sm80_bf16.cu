#include "kernels/gemm_sm80.cuh"

GVB_GEMM_SM80(gvb_gemm_sm80_bf16, gvb::Bf16, gvb::Bf16, 2)
