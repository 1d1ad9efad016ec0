// cuMemGetInfo from programs that want only one of the two numbers, or call it too early.
#include "probe/probe.h"

namespace gvb::probe {
namespace {

void free_null(Run& run) {
  run.enter();
  size_t total = 0;
  if (run.call(cuda::cuMemGetInfo_v2, nullptr, &total) == abi::CUDA_SUCCESS) run.expect("a total", total > 0);
}

void total_null(Run& run) {
  run.enter();
  size_t free = 0;
  if (run.call(cuda::cuMemGetInfo_v2, &free, nullptr) == abi::CUDA_SUCCESS) run.expect("free memory", free > 0);
}

void both_null(Run& run) {
  run.enter();
  run.call(cuda::cuMemGetInfo_v2, nullptr, nullptr);
}

void without_context(Run& run) {
  size_t free = 0, total = 0;
  run.call(cuda::cuMemGetInfo_v2, &free, &total);
  run.initialise();
  run.call(cuda::cuMemGetInfo_v2, &free, &total);
  run.enter();
  run.need(cuda::cuMemGetInfo_v2, &free, &total);
  run.expect("free is not above total", free <= total);
}

}  // namespace

Probes memory_info_probes() {
  return {
      {"cuMemGetInfo, free is null", "HAMi-core#333", free_null},
      {"cuMemGetInfo, total is null", "llama.cpp#20499", total_null},
      {"cuMemGetInfo, both are null", "HAMi-core#333", both_null},
      {"cuMemGetInfo before a context", "HAMi-core#234", without_context},
  };
}

}  // namespace gvb::probe
