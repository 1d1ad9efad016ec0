#include "bench/launch_latency.h"

#include <random>

#include "base/wait.h"
#include "bench/mapped_places.h"
#include "bench/on_core.h"

namespace gvb {

namespace {

constexpr int kGapMinNs = 50'000, kGapMaxNs = 200'000;
constexpr unsigned kLaunchThreads = 32;

// The stamp kernel and its output.
struct Prepared {
  explicit Prepared(const DeviceSession& session)
      : cuda(session.cuda),
        slot(cuda, 4096),
        slot_device(slot.device()),
        launch(cuda, session.module.function("gvb_stamp"), 1, kLaunchThreads, parameters) {}

  void move() {
    slot.move();
    slot_device = slot.device();
  }

  const Cuda& cuda;
  MappedPlaces slot;
  abi::CUdeviceptr slot_device;
  void* parameters[1] = {&slot_device};
  PreparedLaunch launch;
};

struct Launch {
  int64_t called, returned, finished;
  uint64_t started;
};

template <class Call>
Launch launch_once(const Prepared& p, decltype(CudaApi::cuStreamSynchronize) synchronise, const char* name,
                   const Call& call) {
  p.slot.store<uint64_t>(0);
  Launch launch;
  launch.called = now_ns();
  const abi::CUresult launched = call();
  launch.returned = now_ns();
  const abi::CUresult synchronised = synchronise(p.launch.stream());
  launch.finished = now_ns();
  launch.started = p.slot.load<uint64_t>();
  p.cuda.check(launched, name, "launching a kernel");
  p.cuda.check(synchronised, "cuStreamSynchronize", "waiting for a kernel");
  if (launch.started == 0)
    throw Failure(FailureKind::kInvalidResult,
                  std::string(name) + " succeeded but the kernel did not write its stamp.");
  return launch;
}

template <class Call>
LaunchBlock run(DeviceSession& session, const LaunchRequest& request, const Prepared& p, const char* name,
                const Call& call) {
  const auto synchronise = p.cuda.require(p.cuda.api.cuStreamSynchronize, "cuStreamSynchronize");
  const OnCore core(request.core);
  ClockMapping mapping(session);
  std::mt19937_64 random(request.seed);
  std::uniform_int_distribution<int> gap(kGapMinNs, kGapMaxNs);
  for (unsigned i = 0; i < request.warmup; ++i) {
    session.token.check();
    launch_once(p, synchronise, name, call);
  }
  std::vector<Launch> launches(request.count);
  mapping.exchange();
  for (Launch& launch : launches) {
    session.token.check();
    spin_for_ns(gap(random));
    launch = launch_once(p, synchronise, name, call);
  }
  mapping.exchange();
  mapping.fit();

  LaunchBlock block;
  block.core = core.number();
  block.mapping = mapping.quality();
  for (const Launch& launch : launches) {
    block.submit_ns.push_back(static_cast<double>(launch.returned - launch.called));
    block.start_ns.push_back(mapping.since(launch.called, DeviceTime{launch.started}));
    block.round_trip_ns.push_back(static_cast<double>(launch.finished - launch.called));
  }
  return block;
}

}  // namespace

LaunchBlock measure_launches(DeviceSession& session, const LaunchRequest& request) {
  auto& p = session.kept<Prepared>();
  p.move();
  return p.launch.by(request.call,
                     [&](const char* name, const auto& call) { return run(session, request, p, name, call); });
}

}  // namespace gvb
