// The kernels in the emulator of test/emulator, compared with double precision. Sizes are the smallest that reach every
// branch: several tiles, a ring that wraps, masked edges, several heads.
#include "test/check.h"
#include "test/kernels_parts.h"

int main() {
  test_emulator();
  test_attention();
  test_decoder();
  test_decode_product();
  test_skinny();
  test_gemm();
  test_bandwidth_kernels();
  test_chase_kernels();
  test_memory_kernels();
  test_result_kernels();
  return test::report("kernels_test");
}
