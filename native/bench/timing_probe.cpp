#include "bench/timing_probe.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/wait.h"
#include "bench/kept_modules.h"
#include "kernels/strong_loads_shape.h"

namespace gvb {

namespace {

constexpr size_t kCyclesBytes = size_t{2} * kStrongLoads * sizeof(uint32_t);

class TimingProbe {
 public:
  explicit TimingProbe(DeviceSession& session)
      : cuda_(session.cuda),
        loads_(kept_module(session, "strong_loads").function("gvb_strong_loads")),
        empty_(session.module.function("gvb_empty")),
        word_(make_memory(cuda_, sizeof(uint32_t))),
        cycles_(cuda_, kCyclesBytes) {
    GVB_CALL(cuda_, "clearing the word that is loaded", cuMemsetD32_v2, word_.get(), 0, 1);
  }

  void sample(Timings* out) const {
    for (unsigned i = 0; i < 2 * kStrongLoads; ++i) cycles_.store<uint32_t>(0, i * sizeof(uint32_t));
    abi::CUdeviceptr word = word_.get(), cycles = cycles_.device();
    void* parameters[] = {&word, &cycles};
    launch(loads_, parameters);
    wait();
    const int64_t began = now_ns();
    launch(empty_, nullptr);
    const int64_t launched = now_ns();
    wait();
    const int64_t idle = now_ns();
    wait();
    out->sync_ns.push_back(static_cast<double>(now_ns() - idle));
    out->launch_ns.push_back(static_cast<double>(launched - began));
    out->volatile_cycles.push_back(median(0));
    out->acquire_cycles.push_back(median(kStrongLoads));
  }

 private:
  void launch(abi::CUfunction kernel, void** parameters) const {
    GVB_CALL(cuda_, "launching a probe of the timing", cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters,
             nullptr);
  }
  void wait() const { GVB_CALL(cuda_, "waiting for a probe of the timing", cuCtxSynchronize); }

  double median(unsigned first) const {
    std::array<uint32_t, kStrongLoads> took{};
    for (unsigned i = 0; i < kStrongLoads; ++i) took[i] = cycles_.load<uint32_t>((first + i) * sizeof(uint32_t));
    uint32_t middle = 0;
    for (const uint32_t one : took) {
      const auto fewer = std::count_if(took.begin(), took.end(), [one](uint32_t other) { return other < one; });
      if (fewer <= kStrongLoads / 2) middle = std::max(middle, one);
    }
    if (middle == 0)
      throw Failure(FailureKind::kInvalidResult,
                    "a call reported success without doing its work: loads that were launched took no time.");
    return middle;
  }

  const Cuda& cuda_;
  const abi::CUfunction loads_, empty_;
  const DeviceMemory word_;
  const MappedMemory cycles_;
};

}  // namespace

Timings probe_timing(DeviceSession& session, const TimingRequest& request) {
  Timings out;
  const TimingProbe probe(session);
  Timings warm_up;
  probe.sample(&warm_up);
  wait_for_release(request.start_at_ns, [&] { session.token.check(); });
  int64_t next = now_ns();
  out.started_ns = static_cast<double>(next - request.start_at_ns);
  const int64_t until = std::max(next, request.start_at_ns) + static_cast<int64_t>(request.window_ns);
  for (; next < until; next = std::max(now_ns(), next + static_cast<int64_t>(request.period_ns))) {
    session.token.check();
    sleep_until(next);
    probe.sample(&out);
  }
  return out;
}

}  // namespace gvb
