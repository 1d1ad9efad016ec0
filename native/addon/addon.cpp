// The module's functions: argument checks, hand-over to the executor, conversion of what comes back. The surface is
// described in lib/native/addon-types.ts.
#include <dlfcn.h>
#include <napi.h>
#include <sys/prctl.h>

#include <csignal>

#include "addon/arguments.h"
#include "addon/executor.h"
#include "addon/job.h"
#include "addon/to_js.h"
#include "driver/clock.h"
#include "driver/clock_check.h"

namespace gvb {

namespace {

const std::shared_ptr<Environment>& environment_of(Napi::Env env) {
  return *env.GetInstanceData<std::shared_ptr<Environment>>();
}

Executor::Owner owner_of_environment(Napi::Env env) { return environment_of(env).get(); }

template <class Result, class Convert>
std::shared_ptr<Job<Result>> make_job(Napi::Env env, Convert convert) {
  return std::make_shared<Job<Result>>(env, environment_of(env), convert);
}

// What the executor cannot take, for want of a thread, the promise rejects with.
template <class Result, class Submit>
Napi::Value submitted(const std::shared_ptr<Job<Result>>& job, const Submit& submit) {
  const Napi::Promise promise = job->promise();
  try {
    submit();
  } catch (...) {
    job->fail(std::current_exception());
    JobBase::finish(job);
  }
  return promise;
}

// Work that needs no session.
template <class Result, class Work, class Convert>
Napi::Value promise_of(Napi::Env env, Work work, Convert convert) {
  auto job = make_job<Result>(env, convert);
  return submitted(job, [&] {
    Executor::instance().submit(owner_of_environment(env), [job, work] {
      job->perform(work);
      JobBase::finish(job);
    });
  });
}

// Work on the session named by the first argument.
template <class Result, class Work, class Convert>
Napi::Value promise_in(const Napi::CallbackInfo& info, Work work, Convert convert) {
  const Napi::Env env = info.Env();
  const SessionId session = session_id(info[0]);
  auto job = make_job<Result>(env, convert);
  return submitted(job, [&] {
    Executor::instance().submit_in(owner_of_environment(env), session, [job, work](DeviceSession* device) {
      job->perform([&] {
        if (!device) throw Failure(FailureKind::kAborted, "the session is closed");
        return work(*device);
      });
      JobBase::finish(job);
    });
  });
}

template <class Result>
Napi::Value convert_result(Napi::Env env, const Result& result) {
  return to_js(env, result);
}

Napi::Value probe_driver(const Napi::CallbackInfo& info) {
  std::string error;
  const std::optional<std::string> path = Driver::probe(error);
  Napi::Object out = Napi::Object::New(info.Env());
  out.Set("path", path ? Napi::Value(Napi::String::New(info.Env(), *path)) : info.Env().Null());
  out.Set("error", path ? info.Env().Null() : Napi::Value(Napi::String::New(info.Env(), error)));
  return out;
}

struct InspectionOf {
  const Driver* driver;
  Inspection inspection;
};

Napi::Value inspect_driver(const Napi::CallbackInfo& info) {
  const auto folder = Fields(info[0]).simulated_folder();
  return promise_of<InspectionOf>(
      info.Env(),
      [folder] {
        const Driver& driver = Driver::load(folder);
        return InspectionOf{&driver, inspect(driver)};
      },
      [](Napi::Env env, const InspectionOf& seen) { return to_js(env, *seen.driver, seen.inspection); });
}

Napi::Value read_provenance(const Napi::CallbackInfo& info) {
  const auto folder = Fields(info[0]).simulated_folder();
  return promise_of<Provenance>(
      info.Env(), [folder] { return provenance(Driver::load(folder)); }, convert_result<Provenance>);
}

Napi::Value start_up(const Napi::CallbackInfo& info) {
  const Fields fields(info[0]);
  const StartUpRequest request{fields.simulated_folder(),
                               fields.device(),
                               fields.path(),
                               fields.choice<ContextApi>("contextApi", {"cuDevicePrimaryCtxRetain", "cuCtxCreate"}),
                               fields.integer<unsigned>("recreations"),
                               fields.optional_time_ns("startAtNs"),
                               fields.flag("keep")};
  return promise_of<StartUp>(
      info.Env(), [request] { return measure_start_up(request, CancelToken()); }, convert_result<StartUp>);
}

Napi::Value discovery(const Napi::CallbackInfo& info) {
  const Fields fields(info[0]);
  const auto folder = fields.simulated_folder();
  const auto repeats = fields.integer<unsigned>("repeats");
  return promise_of<Discovery>(
      info.Env(), [folder, repeats] { return measure_discovery(folder, repeats, CancelToken()); },
      convert_result<Discovery>);
}

Napi::Value keep_context_of(const Napi::CallbackInfo& info) {
  const Fields fields(info[0]);
  const auto folder = fields.simulated_folder();
  const auto device = fields.device();
  const auto path = fields.path();
  return promise_of<bool>(
      info.Env(),
      [folder, device, path] {
        keep_context(Driver::load(folder), path, device);
        return true;
      },
      [](Napi::Env env, const bool&) -> Napi::Value { return env.Undefined(); });
}

// Both ways to take a turn: with the device, or (for a coordinator, which makes no CUDA call) without.
Napi::Value take_turn(Napi::Env env, Executor::OpenDevice open) {
  auto job = make_job<SessionId>(
      env, [](Napi::Env e, const SessionId& id) -> Napi::Value { return Napi::Number::New(e, id); });
  return submitted(job, [&] {
    Executor::instance().submit_open(owner_of_environment(env), std::move(open),
                                     [job](SessionId id, const std::exception_ptr& failure) {
                                       if (failure)
                                         job->fail(failure);
                                       else
                                         job->perform([id] { return id; });
                                       JobBase::finish(job);
                                     });
  });
}

Napi::Value open_session(const Napi::CallbackInfo& info) {
  const Fields fields(info[0]);
  const auto folder = fields.simulated_folder();
  const auto device = fields.device();
  const auto path = fields.path();
  return take_turn(info.Env(), [folder, device, path](const CancelToken& token) {
    return std::make_unique<DeviceSession>(Driver::load(folder), path, device, token);
  });
}

Napi::Value open_turn(const Napi::CallbackInfo& info) {
  return take_turn(info.Env(), [](const CancelToken&) { return nullptr; });
}

Napi::Value close_session(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const SessionId session = session_id(info[0]);
  auto job = make_job<bool>(env, [](Napi::Env e, const bool&) -> Napi::Value { return e.Undefined(); });
  return submitted(job, [&] {
    Executor::instance().submit_close(owner_of_environment(env), session, [job] {
      job->perform([] { return true; });
      JobBase::finish(job);
    });
  });
}

Napi::Value cancel(const Napi::CallbackInfo& info) {
  Executor::instance().cancel(session_id(info[0]));
  return info.Env().Undefined();
}

// By the UUID and without a session: a coordinator makes no CUDA call.
Napi::Value gpu_state(const Napi::CallbackInfo& info) {
  using State = std::optional<GpuState>;
  const Fields fields(info[0]);
  const auto folder = fields.simulated_folder();
  const auto uuid = fields.text("uuid");
  const auto detail = fields.choice<GpuDetail>("detail", {"readings", "all"});
  return promise_of<State>(
      info.Env(), [folder, uuid, detail] { return read_gpu_state(Nvml::load(folder).api, uuid, detail); },
      convert_result<State>);
}

Napi::Value health(const Napi::CallbackInfo& info) {
  return promise_in<GpuState>(
      info, [](DeviceSession& session) { return read_gpu_state(session.driver.nvml.api, session.nvml_device); },
      convert_result<GpuState>);
}

Napi::Value scheduling(const Napi::CallbackInfo& info) {
  using Name = std::optional<std::string>;
  return promise_in<Name>(
      info, [](DeviceSession& session) { return scheduling_name(session.context.scheduling()); },
      [](Napi::Env env, const Name& name) -> Napi::Value {
        return name ? Napi::Value(Napi::String::New(env, *name)) : env.Null();
      });
}

Napi::Value visible_memory_of(const Napi::CallbackInfo& info) {
  return promise_in<VisibleMemory>(
      info, [](DeviceSession& session) { return visible_memory(session); }, convert_result<VisibleMemory>);
}

Napi::Value layer_probe(const Napi::CallbackInfo& info) {
  const std::vector<uint64_t> allocations = Fields(info[1]).integers("allocations");
  return promise_in<LayerProbe>(
      info, [allocations](DeviceSession& session) { return probe_layer(session, allocations); },
      convert_result<LayerProbe>);
}

Napi::Value compute_share(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const ComputeShareRequest request{fields.positive<unsigned>("durationMs"),      fields.integer<unsigned>("blocks"),
                                    fields.positive<unsigned>("threadsPerBlock"), fields.positive<uint64_t>("spinNs"),
                                    fields.positive<unsigned>("inFlight"),        fields.positive<unsigned>("binMs")};
  return promise_in<ComputeShare>(
      info, [request](DeviceSession& session) { return measure_compute_share(session, request); },
      convert_result<ComputeShare>);
}

Napi::Value window(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const WindowRequest request{fields.choice<WindowOperation>("operation", {"allocFree", "memGetInfo", "launch"}),
                              fields.integer<size_t>("bytes"),
                              fields.time_ns("startAtNs"),
                              fields.integer<int64_t>("windowNs"),
                              fields.integer<unsigned>("warmup"),
                              fields.positive<size_t>("mostSamples")};
  return promise_in<Window>(
      info, [request](DeviceSession& session) { return measure_window(session, request); }, convert_result<Window>);
}

Napi::Value work(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const WorkRequest request{fields.integer<unsigned>("warmupMs"), fields.positive<unsigned>("windowMs")};
  return promise_in<Work>(
      info, [request](DeviceSession& session) { return measure_work(session, request); }, convert_result<Work>);
}

// Not by the executor, whose thread may be stuck in the driver: it takes no longer than the wait for its first 10 ms.
Napi::Value clock_reading(const Napi::CallbackInfo& info) { return to_js(info.Env(), read_clocks()); }

Napi::Value now(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), static_cast<double>(now_ns())); }

Napi::Value launch_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const LaunchRequest request{
      fields.choice<LaunchCall>("call", {"cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch"}),
      fields.integer<unsigned>("count"), fields.integer<unsigned>("warmup"), fields.integer<uint64_t>("seed"),
      fields.integer<uint64_t>("core")};
  return promise_in<LaunchBlock>(
      info, [request](DeviceSession& session) { return measure_launches(session, request); },
      convert_result<LaunchBlock>);
}

Napi::Value allocation_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const AllocationRequest request{fields.choice<AllocationApi>("api", {"cuMemAlloc", "cuMemCreate", "cuMemAllocAsync"}),
                                  fields.integer<size_t>("bytes"), fields.integer<unsigned>("live"),
                                  fields.integer<unsigned>("count"), fields.integer<unsigned>("warmup")};
  return promise_in<AllocationBlock>(
      info, [request](DeviceSession& session) { return measure_allocations(session, request); },
      convert_result<AllocationBlock>);
}

Napi::Value free_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const FreeRequest request{fields.integer<size_t>("bytes"),
                            fields.positive<unsigned>("live"),
                            fields.choice<FreeOrder>("order", {"fifo", "lifo", "random"}),
                            fields.integer<unsigned>("count"),
                            fields.integer<unsigned>("warmup"),
                            fields.integer<uint64_t>("seed")};
  return promise_in<FreeBlock>(
      info, [request](DeviceSession& session) { return measure_frees(session, request); }, convert_result<FreeBlock>);
}

Napi::Value live_sets(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const LiveSetRequest request{fields.positive<size_t>("bytes"),    fields.integers("lives"),
                               fields.positive<unsigned>("count"),  fields.integer<unsigned>("warmup"),
                               fields.integer<unsigned>("queries"), fields.integer<uint64_t>("seed"),
                               fields.integer<uint64_t>("core")};
  return promise_in<std::vector<LiveSetCell>>(
      info, [request](DeviceSession& session) { return measure_live_sets(session, request); },
      convert_result<std::vector<LiveSetCell>>);
}

Napi::Value paced_launches(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const PacedLaunchRequest request{fields.choice<LaunchCall>("call", {"cuLaunchKernel", "cuLaunchKernelEx",
                                                                      "cuGraphLaunch", "cuLaunchCooperativeKernel"}),
                                   fields.positive<unsigned>("count"),
                                   fields.integer<unsigned>("warmup"),
                                   fields.positive<uint64_t>("periodNs"),
                                   fields.integer<uint64_t>("spinNs"),
                                   fields.positive<unsigned>("grid"),
                                   fields.integer<uint64_t>("core")};
  return promise_in<PacedLaunches>(
      info, [request](DeviceSession& session) { return measure_paced_launches(session, request); },
      convert_result<PacedLaunches>);
}

struct Code {
  int code;
  std::string name;
};

Napi::Value double_free(const Napi::CallbackInfo& info) {
  return promise_in<Code>(
      info,
      [](DeviceSession& session) {
        const int code = measure_double_free(session);
        return Code{code, session.cuda.error_name(code)};
      },
      [](Napi::Env env, const Code& code) -> Napi::Value {
        Napi::Object out = Napi::Object::New(env);
        out.Set("code", Napi::Number::New(env, code.code));
        out.Set("name", code.name);
        return out;
      });
}

Napi::Value pair_functions(const Napi::CallbackInfo& info) {
  const std::vector<std::string> names = pair_function_names();
  Napi::Array out = Napi::Array::New(info.Env(), names.size());
  for (uint32_t i = 0; i < names.size(); ++i) out[i] = Napi::String::New(info.Env(), names[i]);
  return out;
}

Napi::Value pair_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const PairRequest request{fields.text("name"),
                            fields.integer<unsigned>("batches"),
                            fields.integer<unsigned>("calls"),
                            fields.number("maxBatchNs"),
                            fields.number("gapNs"),
                            fields.integer<uint64_t>("seed"),
                            fields.integer<uint64_t>("core")};
  return promise_in<PairBlock>(
      info, [request](DeviceSession& session) { return measure_pair(session, request); }, convert_result<PairBlock>);
}

Napi::Value timer(const Napi::CallbackInfo& info) {
  const TimerCalibration calibration = calibrate_timer();
  Napi::Object out = Napi::Object::New(info.Env());
  out.Set("resolutionNs", Napi::Number::New(info.Env(), calibration.resolution_ns));
  out.Set("pairCostNs", Napi::Number::New(info.Env(), calibration.pair_cost_ns));
  return out;
}

Napi::Value die_with_parent(const Napi::CallbackInfo& info) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return info.Env().Undefined();
}

// Node unloads an addon with the last environment that loaded it. A driver call may be stuck in this one by then, and
// would return into code that is gone.
void stay_loaded() {
  Dl_info own;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &own) != 0 && own.dli_fname)
    dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  stay_loaded();
  begin_clock_check();
  env.SetInstanceData(new std::shared_ptr<Environment>(std::make_shared<Environment>()));
  const std::shared_ptr<Environment> environment = environment_of(env);
  Executor::instance().attach(environment.get());
  env.AddCleanupHook([environment] {
    Executor::instance().detach(environment.get());
    const std::lock_guard<std::mutex> lock(environment->mutex);
    environment->alive = false;
  });

  const std::pair<const char*, Napi::Value (*)(const Napi::CallbackInfo&)> functions[] = {
      {"probeDriver", probe_driver},
      {"inspect", inspect_driver},
      {"provenance", read_provenance},
      {"startUp", start_up},
      {"discovery", discovery},
      {"keepContext", keep_context_of},
      {"openSession", open_session},
      {"openTurn", open_turn},
      {"closeSession", close_session},
      {"cancel", cancel},
      {"gpuState", gpu_state},
      {"health", health},
      {"scheduling", scheduling},
      {"visibleMemory", visible_memory_of},
      {"probeLayer", layer_probe},
      {"computeShare", compute_share},
      {"window", window},
      {"work", work},
      {"clockReading", clock_reading},
      {"now", now},
      {"launchBlock", launch_block},
      {"allocationBlock", allocation_block},
      {"freeBlock", free_block},
      {"liveSets", live_sets},
      {"pacedLaunches", paced_launches},
      {"doubleFree", double_free},
      {"pairFunctions", pair_functions},
      {"pairBlock", pair_block},
      {"timer", timer},
      {"dieWithParent", die_with_parent},
  };
  for (const auto& [name, function] : functions) exports.Set(name, Napi::Function::New(env, function, name));
  return exports;
}

}  // namespace

NODE_API_MODULE(gpu_virt_bench, init)

}  // namespace gvb
