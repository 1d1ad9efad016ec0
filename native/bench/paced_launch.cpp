#include "bench/paced_launch.h"

#include <sys/resource.h>

#include <optional>

#include "base/wait.h"
#include "bench/block_counter.h"
#include "bench/on_core.h"

namespace gvb {

namespace {

constexpr unsigned kPacedThreads = 32;
// gvb_occupy writes its start and its end.
constexpr size_t kStampBytes = 16;

// Pause before a call, so that the effect of reading the counter on the caches has passed.
constexpr int64_t kPacedSettleNs = 2'000;

// Preemptions of this thread. Sleeping or waiting for a lock does not count.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

template <class Call>
PacedLaunches paced(const DeviceSession& session, const PacedLaunchRequest& request, abi::CUstream stream,
                    const char* name, const Call& call) {
  const Cuda& cuda = session.cuda;
  const auto synchronise = cuda.require(cuda.api.cuStreamSynchronize, "cuStreamSynchronize");
  const OnCore core(request.core);
  PacedLaunches launches;
  int64_t due = now_ns();
  for (unsigned i = 0; i < request.warmup + request.count; ++i) {
    session.token.check();
    // Spins: during a sleep the processor would lose its clock rate and its caches, and the next call would cost more.
    spin_for_ns(due - kPacedSettleNs - now_ns());
    const long before = preemptions();
    spin_for_ns(due - now_ns());
    const int64_t called = now_ns();
    const abi::CUresult launched = call();
    const int64_t returned = now_ns();
    const bool was_preempted = preemptions() > before;
    const abi::CUresult synchronised = synchronise(stream);
    cuda.check(launched, name, "launching a kernel now and then");
    cuda.check(synchronised, "cuStreamSynchronize", "waiting for a kernel");
    if (i >= request.warmup) {
      if (was_preempted) launches.preempted.push_back(i - request.warmup);
      launches.took_ns.push_back(static_cast<double>(returned - called));
    }
    // Counts from this call, not from when it was due: catching up would increase the demand.
    due = called + static_cast<int64_t>(request.period_ns);
  }
  return launches;
}

}  // namespace

PacedLaunches measure_paced_launches(DeviceSession& session, const PacedLaunchRequest& request) {
  const Cuda& cuda = session.cuda;
  const bool spins = request.spin_ns > 0;
  std::optional<DeviceMemory> stamps;
  if (spins) stamps = make_memory(cuda, kStampBytes);
  abi::CUdeviceptr stamps_device = spins ? stamps->get() : 0;
  unsigned long long spin_ns = request.spin_ns;
  const BlockCounter counter(cuda);
  abi::CUdeviceptr count = counter.device();
  void* occupying[] = {&stamps_device, &spin_ns, &count};
  void* ending[] = {&count};
  PreparedLaunch prepared(cuda, session.module.function(spins ? "gvb_occupy" : "gvb_count"), request.grid,
                          kPacedThreads, spins ? occupying : ending);
  return prepared.by(request.call, [&](const char* name, const auto& call) {
    PacedLaunches launches = paced(session, request, prepared.stream(), name, call);
    counter.check(uint64_t{request.warmup + request.count} * request.grid, name);
    return launches;
  });
}

}  // namespace gvb
