// The kernels of decoder.cu, compiled so that each may begin before the previous one has ended, and the products of a
// step fused with their neighbouring operations. The simulated driver executes kernels by name, so it treats both
// modules alike.
#include "decode_product.cuh"
#include "decoder.cu"
