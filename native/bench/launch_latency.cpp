#include "bench/launch_latency.h"

#include <memory>
#include <random>

#include "bench/clock_mapping.h"
#include "driver/clock.h"

namespace gvb {

namespace {

constexpr int kGapMinNs = 50'000, kGapMaxNs = 200'000;
constexpr unsigned kThreads = 32;

// The stamp kernel ready to be launched in one of the three ways. The three launchers share everything but one call,
// which is a template parameter so that the timed region holds that call and nothing else.
struct Prepared {
  explicit Prepared(DeviceSession& session)
      : cuda(session.cuda),
        stream(make_stream(cuda)),
        slot(cuda, 4096),
        kernel(session.module.function("gvb_stamp")),
        slot_device(slot.device()),
        config{1, 1, 1, kThreads, 1, 1, 0, stream.get(), nullptr, 0} {}

  void build_graph() {
    abi::CUgraph built = nullptr;
    GVB_CALL(cuda, "creating a graph", cuGraphCreate, &built, 0);
    graph = std::make_unique<Graph>(cuda, built);
    abi::CUDA_KERNEL_NODE_PARAMS_v1 node{kernel, 1, 1, 1, kThreads, 1, 1, 0, parameters, nullptr};
    abi::CUgraphNode ignored = nullptr;
    GVB_CALL(cuda, "adding a kernel node", cuGraphAddKernelNode, &ignored, built, nullptr, 0, &node);
    abi::CUgraphExec executable = nullptr;
    GVB_CALL(cuda, "instantiating a graph", cuGraphInstantiateWithFlags, &executable, built, 0);
    graph_executable = std::make_unique<GraphExecutable>(cuda, executable);
  }

  const Cuda& cuda;
  const Stream stream;
  const MappedMemory slot;
  const abi::CUfunction kernel;
  abi::CUdeviceptr slot_device;
  void* parameters[1] = {&slot_device};
  const abi::CUlaunchConfig config;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<GraphExecutable> graph_executable;
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
  const abi::CUresult synchronised = synchronise(p.stream.get());
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

  LaunchBlock block{{},
                    {},
                    {},
                    mapping.residual_ns(),
                    mapping.bracket_ns(),
                    mapping.drift_ppm(),
                    mapping.tick_ns(),
                    ClockMapping::kExchanges};
  for (const Launch& launch : launches) {
    block.submit_ns.push_back(static_cast<double>(launch.returned - launch.called));
    block.start_ns.push_back(mapping.since(launch.called, launch.started));
    block.round_trip_ns.push_back(static_cast<double>(launch.finished - launch.called));
  }
  return block;
}

}  // namespace

LaunchBlock measure_launches(DeviceSession& session, const LaunchRequest& request) {
  Prepared p(session);
  const CudaApi& api = session.cuda.api;
  if (request.call == LaunchCall::kKernel) {
    const auto launch = session.cuda.require(api.cuLaunchKernel, "cuLaunchKernel");
    return run(session, request, p, "cuLaunchKernel",
               [&] { return launch(p.kernel, 1, 1, 1, kThreads, 1, 1, 0, p.stream.get(), p.parameters, nullptr); });
  }
  if (request.call == LaunchCall::kKernelEx) {
    const auto launch = session.cuda.require(api.cuLaunchKernelEx, "cuLaunchKernelEx");
    return run(session, request, p, "cuLaunchKernelEx",
               [&] { return launch(&p.config, p.kernel, p.parameters, nullptr); });
  }
  p.build_graph();
  const auto launch = session.cuda.require(api.cuGraphLaunch, "cuGraphLaunch");
  return run(session, request, p, "cuGraphLaunch", [&] { return launch(p.graph_executable->get(), p.stream.get()); });
}

}  // namespace gvb
