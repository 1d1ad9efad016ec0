// Creates as many objects as large programs do. Natively, it creates as many as memory and time allow; then the same
// number under the system.
#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.h"
#include "probe/probe.h"

namespace gvb::probe {
namespace {

// Natively. Contexts take as long again to destroy.
constexpr int64_t kStreamsNs = 2'000'000'000, kContextsNs = 1'000'000'000;
constexpr size_t kStreams = 10'000, kContexts = 64;
// A context takes some 500 MiB of a large card; the spare memory is left to other users of the card.
constexpr size_t kContextBytes = size_t{768} << 20, kSpareBytes = size_t{1} << 30;

struct Most {
  size_t count;
  int64_t ns;
};

// Calls `make` up to `most` times. If no number is given, running out of memory or time is not a failure.
template <class Object, class Make>
std::vector<Object> make_many(const Run& run, const std::string& step, Most most, Make make) {
  std::vector<Object> made;
  int code = abi::CUDA_SUCCESS;
  const int64_t end = now_ns() + most.ns;
  report::calls(step);
  while (made.size() < run.options.count.value_or(most.count) && (run.options.count || now_ns() < end)) {
    Object object{};
    code = make(&object);
    if (code != abi::CUDA_SUCCESS) break;
    made.push_back(object);
  }
  if (run.options.count || made.empty()) {
    report::code(step, code);
    if (code != abi::CUDA_SUCCESS) Run::fail(step, code);
    return made;
  }
  report::code(step, abi::CUDA_SUCCESS);
  // After a refusal, reports fewer: other users may hold part of the memory next time.
  report::line("count", {{"count", std::to_string(code == abi::CUDA_SUCCESS ? made.size() : made.size() * 3 / 4 + 1)}});
  return made;
}

void streams(Run& run) {
  run.enter();
  const auto kernel = run.empty_kernel();
  const auto create = run.address(cuda::cuStreamCreate);
  const auto launch = run.address(cuda::cuLaunchKernel);
  const auto destroy = run.address(cuda::cuStreamDestroy_v2);
  const auto made =
      make_many<abi::CUstream>(run, "cuStreamCreate", Most{kStreams, kStreamsNs},
                               [create](abi::CUstream* stream) { return create(stream, abi::CU_STREAM_NON_BLOCKING); });
  int worst = 0;
  report::calls("cuLaunchKernel on every 16th stream");
  for (size_t i = 0; i < made.size(); i += 16)
    worst = std::max(worst, launch(kernel, 1, 1, 1, 1, 1, 1, 0, made[i], nullptr, nullptr));
  report::code("cuLaunchKernel on every 16th stream", worst);
  run.need(cuda::cuCtxSynchronize);
  worst = 0;
  report::calls("cuStreamDestroy");
  for (const abi::CUstream stream : made) worst = std::max(worst, destroy(stream));
  report::code("cuStreamDestroy", worst);
}

// Limited by the card and by the system's memory limit, so that the native run makes no more contexts than the system's
// run can.
size_t room_for_contexts(Run& run) {
  size_t free = 0, total = 0;
  run.need(cuda::cuMemGetInfo_v2, &free, &total);
  if (run.options.count) return *run.options.count;
  const size_t bytes = std::min(free, run.options.memory.value_or(free));
  if (bytes < kSpareBytes + kContextBytes) throw Over("there is no memory for a further context");
  return std::min(kContexts, (bytes - kSpareBytes) / kContextBytes);
}

void contexts(Run& run) {
  run.enter();
  const size_t room = room_for_contexts(run);
  // Uses the exported function: a layer may answer cuGetProcAddress with another ABI, which another probe tests.
  const auto create =
      reinterpret_cast<int (*)(abi::CUcontext*, unsigned, abi::CUdevice)>(dlsym(run.cuda.handle(), "cuCtxCreate_v2"));
  if (!create) throw Over("the driver lacks cuCtxCreate_v2");
  const auto made =
      make_many<abi::CUcontext>(run, "cuCtxCreate_v2", Most{room, kContextsNs},
                                [&run, create](abi::CUcontext* context) { return create(context, 0, run.device); });
  run.use_memory("memory of the last context");
  for (const abi::CUcontext context : made) run.need(cuda::cuCtxDestroy_v2, context);
  run.need(cuda::cuCtxSetCurrent, run.context);
  run.use_memory("memory afterwards");
}

}  // namespace

Probes many_probes() {
  return {
      also_error_probe({"10 000 streams", "HAMi#1181", streams, nullptr, true}),
      also_error_probe({"64 contexts", "HAMi-core#79", contexts, nullptr, true}),
  };
}

}  // namespace gvb::probe
