// The kernels of decoder.cu once more, so that each may begin before the one ahead of it has ended, and the products of
// a step with what comes before and after them. The simulated driver executes kernels by name: it knows no difference.
#include "decode_product.cuh"
#include "decoder.cu"
