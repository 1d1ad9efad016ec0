#include "kernels/gemm_sm80.cuh"

GVB_GEMM_SM80(gvb_gemm_sm80_f16, gvb::F16, gvb::F16, 2)
