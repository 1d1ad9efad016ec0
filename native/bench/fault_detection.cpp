#include "bench/fault_detection.h"

#include "base/wait.h"
#include "kernels/ptx.h"

namespace gvb {

namespace {

constexpr int64_t kBetweenExchangesNs = 20'000'000;
// A driver reports a fault within milliseconds; if it does not within this time, it will not report it at all.
constexpr int64_t kPatienceNs = 1'000'000'000;
// A wait that succeeds is repeated: under MPS a client learns of its own fault only after a synchronisation that
// succeeded.
constexpr int64_t kAgainNs = 1'000'000;
constexpr int64_t kStampPatienceNs = 200'000'000;

struct Told {
  abi::CUresult code;
  int64_t at;
};

// Waits until an error is reported or the time is up.
template <class Ask>
Told ask_until_error(const Ask& ask, int64_t pause, uint64_t* successes) {
  const int64_t until = now_ns() + kPatienceNs;
  for (;;) {
    const abi::CUresult code = ask();
    const int64_t at = now_ns();
    if (code != abi::CUDA_SUCCESS && code != abi::CUDA_ERROR_NOT_READY) return {code, at};
    if (at >= until) return {abi::CUDA_SUCCESS, at};
    if (code == abi::CUDA_ERROR_NOT_READY) continue;
    ++*successes;
    spin_until(at + pause);
  }
}

// The stamp was written before the fault, but it may become visible later than the report of the fault.
uint64_t await_stamp(const MappedMemory& stamp) {
  const int64_t until = now_ns() + kStampPatienceNs;
  while (stamp.load<uint64_t>() == 0 && now_ns() < until) {
  }
  return stamp.load<uint64_t>();
}

}  // namespace

FaultDetection detect_fault(DeviceSession& session, const FaultDetectionRequest& request) {
  const Cuda& cuda = session.cuda;
  const Module module(cuda, gvb_ptx_faults);
  const abi::CUfunction kernel = module.function(fault_kernel(request.fault));
  const auto query = cuda.require(cuda.api.cuStreamQuery, "cuStreamQuery");
  const auto synchronise = cuda.require(cuda.api.cuStreamSynchronize, "cuStreamSynchronize");
  const Stream stream = make_stream(cuda);
  const MappedMemory stamp(cuda, sizeof(uint64_t));
  stamp.store<uint64_t>(0);
  ClockMapping mapping(session);
  mapping.exchange();
  sleep_until(now_ns() + kBetweenExchangesNs);
  mapping.exchange();
  mapping.fit();

  FaultDetection found;
  abi::CUdeviceptr slot = stamp.device();
  void* parameters[] = {&slot};
  GVB_CALL(cuda, "launching a kernel that fails on purpose", cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, stream.get(),
           parameters, nullptr);
  const int64_t launched = now_ns();
  const Told told = request.wait == FaultWait::kQuery
                        ? ask_until_error([&] { return query(stream.get()); }, 0, &found.successes)
                        : ask_until_error([&] { return synchronise(stream.get()); }, kAgainNs, &found.successes);
  const auto failed = await_stamp(stamp);
  found.stamped = failed != 0;
  found.mapping = mapping.quality();
  found.code = told.code;
  if (told.code != abi::CUDA_SUCCESS) found.name = cuda.error_name(told.code);
  if (!found.stamped) return found;
  found.latency_ns = -mapping.since(told.at, DeviceTime{failed});
  found.submitted_ns = -mapping.since(launched, DeviceTime{failed});
  return found;
}

}  // namespace gvb
