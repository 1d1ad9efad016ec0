#include "bench/paced_launch.h"

#include <optional>
#include <random>

#include "bench/on_core.h"
#include "driver/clock.h"

namespace gvb {

namespace {

constexpr unsigned kThreads = 32;
// What gvb_occupy writes: when it began and when it ended.
constexpr size_t kStampBytes = 16;

class Pace {
 public:
  Pace(const DeviceSession& session, uint64_t period_ns)
      : session_(session),
        synchronise_(session.cuda.require(session.cuda.api.cuStreamSynchronize, "cuStreamSynchronize")),
        period_ns_(static_cast<int64_t>(period_ns)) {}

  template <class Call>
  double launch(abi::CUstream stream, const char* name, const Call& call) {
    session_.token.check();
    // Asleep, the processor would lose its clock and its caches, and the next call would cost other things too.
    spin_for_ns(due_ - now_ns());
    const int64_t called = now_ns();
    const abi::CUresult launched = call();
    const int64_t returned = now_ns();
    const abi::CUresult synchronised = synchronise_(stream);
    session_.cuda.check(launched, name, "launching a kernel now and then");
    session_.cuda.check(synchronised, "cuStreamSynchronize", "waiting for a kernel");
    // From this call and not from when it was due: what was late is not made up for, which would be more demand.
    due_ = called + period_ns_;
    return static_cast<double>(returned - called);
  }

 private:
  const DeviceSession& session_;
  const decltype(CudaApi::cuStreamSynchronize) synchronise_;
  const int64_t period_ns_;
  int64_t due_ = now_ns();
};

}  // namespace

PacedLaunches measure_paced_launches(DeviceSession& session, const PacedLaunchRequest& request) {
  const Cuda& cuda = session.cuda;
  const Cuda bare(session.driver.tables.reference_of(cuda.path), cuda.path);
  const bool spins = request.spin_ns > 0;
  std::optional<DeviceMemory> stamps;
  if (spins) stamps = make_memory(cuda, kStampBytes);
  abi::CUdeviceptr stamps_device = spins ? stamps->get() : 0;
  unsigned long long spin_ns = request.spin_ns;
  void* parameters[] = {&stamps_device, &spin_ns};
  const auto prepared = [&](const Cuda& by) {
    return PreparedLaunch(by, session.module.function(spins ? "gvb_occupy" : "gvb_empty"), request.grid, kThreads,
                          spins ? parameters : nullptr);
  };
  PreparedLaunch hooked = prepared(cuda), plain = prepared(bare);
  const OnCore core(request.core);
  Pace pace(session, request.period_ns);
  std::mt19937_64 random(request.seed);
  PacedLaunches launches{};
  hooked.by(request.call, [&](const char* name, const auto& call) {
    launches.intercepted = pointers_of(session, name).intercepted();
    plain.by(request.call, [&](const char*, const auto& bare_call) {
      for (unsigned i = 0; i < request.warmup + request.count; ++i) {
        const bool hooked_first = random() & 1;
        double hooked_ns = hooked_first ? pace.launch(hooked.stream(), name, call) : 0;
        const double bare_ns = pace.launch(plain.stream(), name, bare_call);
        if (!hooked_first) hooked_ns = pace.launch(hooked.stream(), name, call);
        if (i < request.warmup) continue;
        launches.hooked_ns.push_back(hooked_ns);
        launches.bare_ns.push_back(bare_ns);
      }
    });
  });
  return launches;
}

}  // namespace gvb
