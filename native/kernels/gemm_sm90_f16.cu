#include "kernels/gemm_sm90.cuh"

GVB_GEMM_SM90(gvb_gemm_sm90_f16, gvb::F16, gvb::F16, 64)
