// The PTX that measurements read from files.
#include "kernels/ptx_file.h"

#include <string>

#include "driver/error.h"
#include "test/check.h"

namespace {

using namespace gvb;

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void numbers() {
  const std::string& f16 = ptx_file("gemm_sm80_f16");
  CHECK(holds(f16, ".entry gvb_gemm_sm80_f16("));
  CHECK(holds(f16, ".f32.f16.f16.f32"));
  CHECK(!holds(f16, "bf16"));
  const std::string& bf16 = ptx_file("gemm_sm80_bf16");
  CHECK(holds(bf16, ".entry gvb_gemm_sm80_bf16("));
  CHECK(holds(bf16, ".f32.bf16.bf16.f32"));
  CHECK(!holds(bf16, ".f16") && !holds(bf16, "_f16"));
  // Registers of numbers with 32 bits keep their names.
  CHECK(holds(ptx_file("attention_sm80_bf16_d128"), "%f160"));
  CHECK(&ptx_file("gemm_sm80_bf16") == &bf16);
}

void missing() {
  try {
    ptx_file("no_such");
    CHECK(false);
  } catch (const Failure& failure) {
    CHECK(failure.kind() == FailureKind::kFunctionMissing);
    CHECK(holds(failure.what(), "/no_such.ptx cannot be read: install gpu-virt-bench again"));
  }
}

}  // namespace

int main() {
  numbers();
  missing();
  return test::report("ptx_file_test");
}
