#include "addon/to_js.h"

#include <cstring>
#include <optional>

namespace gvb {

namespace {

Napi::Value value(Napi::Env env, const std::string& text) { return Napi::String::New(env, text); }
Napi::Value value(Napi::Env env, const char* text) { return Napi::String::New(env, text); }
Napi::Value value(Napi::Env env, bool flag) { return Napi::Boolean::New(env, flag); }
Napi::Value value(Napi::Env env, Napi::Value already) { return already.IsEmpty() ? env.Null() : already; }

template <class Number, std::enable_if_t<std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>, int> = 0>
Napi::Value value(Napi::Env env, Number number) {
  return Napi::Number::New(env, static_cast<double>(number));
}

Napi::Value value(Napi::Env env, const std::vector<double>& samples) {
  auto array = Napi::Float64Array::New(env, samples.size());
  if (!samples.empty()) std::memcpy(array.Data(), samples.data(), samples.size() * sizeof(double));
  return array;
}

template <class Item, class Convert>
Napi::Value list(Napi::Env env, const std::vector<Item>& items, Convert convert) {
  auto array = Napi::Array::New(env, items.size());
  for (size_t i = 0; i < items.size(); ++i) array[static_cast<uint32_t>(i)] = convert(items[i]);
  return array;
}

// For results that cross a process boundary as JSON, which has no typed arrays.
Napi::Value plain_numbers(Napi::Env env, const std::vector<double>& numbers) {
  return list(env, numbers, [&](double number) { return value(env, number); });
}

template <class T>
Napi::Value value(Napi::Env env, const std::optional<T>& maybe) {
  return maybe ? value(env, *maybe) : env.Null();
}

Napi::Value value(Napi::Env env, const std::optional<std::vector<unsigned>>& ids) {
  if (!ids) return env.Null();
  return list(env, *ids, [&](unsigned id) { return value(env, id); });
}

// An empty path means: nobody owns it.
Napi::Value owner(Napi::Env env, const std::string& path) { return path.empty() ? env.Null() : value(env, path); }

class Object {
 public:
  explicit Object(Napi::Env env) : env_(env), object_(Napi::Object::New(env)) {}

  template <class T>
  Object& set(const char* name, const T& field) {
    object_.Set(name, value(env_, field));
    return *this;
  }
  operator Napi::Value() const { return object_; }

 private:
  Napi::Env env_;
  Napi::Object object_;
};

}  // namespace

Napi::Value to_js(Napi::Env env, const Window& window) {
  return Object(env)
      .set("startedNs", window.started_ns)
      .set("endedNs", window.ended_ns)
      .set("operations", window.operations)
      .set("verified", window.verified)
      .set("usedBefore", window.used_before)
      .set("usedAfter", window.used_after)
      .set("atNs", window.at_ns)
      .set("tookNs", window.took_ns);
}

Napi::Value to_js(Napi::Env env, const Work& work) {
  return Object(env).set("unitNs", work.unit_ns).set("untimedUnits", work.untimed_units);
}

Napi::Value to_js(Napi::Env env, const LaunchBlock& block) {
  const Napi::Value mapping = Object(env)
                                  .set("residualNs", block.residual_ns)
                                  .set("bracketNs", block.bracket_ns)
                                  .set("driftPpm", block.drift_ppm)
                                  .set("tickNs", block.tick_ns)
                                  .set("exchanges", block.exchanges);
  return Object(env)
      .set("submitNs", block.submit_ns)
      .set("startNs", block.start_ns)
      .set("roundTripNs", block.round_trip_ns)
      .set("core", block.core)
      .set("mapping", mapping);
}

Napi::Value to_js(Napi::Env env, const AllocationBlock& block) {
  return Object(env)
      .set("bytes", block.bytes)
      .set("live", block.live)
      .set("allocNs", block.alloc_ns)
      .set("freeNs", block.free_ns);
}

Napi::Value to_js(Napi::Env env, const FreeBlock& block) {
  return Object(env)
      .set("bytes", block.bytes)
      .set("live", block.live)
      .set("freeNs", block.free_ns)
      .set("usedBefore", block.used_before)
      .set("usedAfter", block.used_after);
}

Napi::Value to_js(Napi::Env env, const std::vector<LiveSetCell>& cells) {
  return list(env, cells, [&](const LiveSetCell& cell) -> Napi::Value {
    return Object(env)
        .set("live", cell.live)
        .set("allocNs", cell.alloc_ns)
        .set("freeNs", cell.free_ns)
        .set("queryNs", cell.query_ns);
  });
}

Napi::Value to_js(Napi::Env env, const PacedLaunches& launches) {
  return Object(env)
      .set("tookNs", plain_numbers(env, launches.took_ns))
      .set("preempted", list(env, launches.preempted, [&](unsigned place) { return value(env, place); }));
}

Napi::Value to_js(Napi::Env env, const PairBlock& block) {
  return Object(env)
      .set("owner", owner(env, block.owner))
      .set("bareOwner", owner(env, block.bare_owner))
      .set("intercepted", block.intercepted)
      .set("calls", block.calls)
      .set("hookedNs", block.hooked_ns)
      .set("bareNs", block.bare_ns)
      .set("achievedNs", block.achieved_ns);
}

Napi::Value to_js(Napi::Env env, const GpuState& state) {
  Napi::Value processes = env.Null();
  if (state.processes)
    processes = list(env, *state.processes, [&](const GpuProcess& process) -> Napi::Value {
      return Object(env).set("pid", process.pid).set("usedBytes", process.used_bytes);
    });
  return Object(env)
      .set("smClockMhz", state.sm_clock_mhz)
      .set("maxSmClockMhz", state.max_sm_clock_mhz)
      .set("memoryClockMhz", state.memory_clock_mhz)
      .set("temperatureC", state.temperature_c)
      .set("powerW", state.power_mw ? value(env, *state.power_mw / 1000.0) : env.Null())
      .set("performanceState", state.performance_state)
      .set("persistenceMode", state.persistence_mode ? value(env, *state.persistence_mode != 0) : env.Null())
      .set("eventReasons", state.event_reasons)
      .set("gpuPercent", state.gpu_percent)
      .set("memoryPercent", state.memory_percent)
      .set("usedBytes", state.used_bytes)
      .set("freeBytes", state.free_bytes)
      .set("totalBytes", state.total_bytes)
      .set("processes", processes);
}

Napi::Value to_js(Napi::Env env, const std::optional<GpuState>& state) {
  return state ? to_js(env, *state) : env.Null();
}

Napi::Value to_js(Napi::Env env, const VisibleMemory& memory) {
  return Object(env).set("freeBytes", memory.free_bytes).set("totalBytes", memory.total_bytes);
}

Napi::Value to_js(Napi::Env env, const LayerProbe& probe) {
  const Napi::Value allocations = list(env, probe.allocations, [&](const TriedAllocation& tried) -> Napi::Value {
    return Object(env).set("bytes", tried.bytes).set("code", tried.code);
  });
  return Object(env)
      .set("visibleTotalBytes", probe.visible_total_bytes)
      .set("pidFound", probe.pid_found)
      .set("memoryLimitBytes", probe.memory_limit_bytes)
      .set("smPercent", probe.sm_percent)
      .set("allocations", allocations);
}

Napi::Value to_js(Napi::Env env, const ComputeShare& share) {
  return Object(env)
      .set("launches", share.launches)
      .set("kernelNs", share.kernel_ns)
      .set("busyShare", share.busy_share)
      .set("bins", plain_numbers(env, share.bins));
}

Napi::Value to_js(Napi::Env env, const StartUp& start) {
  Napi::Value mode = env.Null();
  if (start.loading_mode) mode = value(env, *start.loading_mode == abi::CU_MODULE_LAZY_LOADING ? "lazy" : "eager");
  return Object(env)
      .set("loadNs", start.load_ns)
      .set("resolveNs", start.resolve_ns)
      .set("initNs", start.init_ns)
      .set("deviceNs", start.device_ns)
      .set("contextNs", start.context_ns)
      .set("moduleNs", start.module_ns)
      .set("firstAllocNs", start.first_alloc_ns)
      .set("firstLaunchNs", start.first_launch_ns)
      .set("secondLaunchNs", start.second_launch_ns)
      .set("totalNs", start.total_ns)
      .set("readyAtNs", start.ready_at_ns)
      .set("beganAtNs", start.began_at_ns)
      .set("firstResultAtNs", start.first_result_at_ns)
      .set("firstReleaseNs", start.first_release_ns)
      .set("resultCorrect", start.result_correct)
      .set("contextFunction", start.context_function)
      .set("contextOwner", owner(env, start.context_owner))
      .set("loadingMode", mode)
      .set("initialisedAt", to_string(start.initialised_at))
      .set("interposer", owner(env, start.interposer))
      .set("contextWasActive", start.context_was_active)
      .set("processesDuring", start.processes_during)
      .set("processesAfter", start.processes_after)
      .set("gpuFreeDuringBytes", start.gpu_free_during)
      .set("gpuFreeAfterBytes", start.gpu_free_after)
      .set("pid", start.pid)
      .set("retainNs", plain_numbers(env, start.retain_ns))
      .set("releaseNs", plain_numbers(env, start.release_ns))
      .set("inactiveBetween", start.inactive_between)
      .set("leftListBetween", start.left_list_between)
      .set("mpsClient", start.mps_client);
}

namespace {

Napi::Value to_js(Napi::Env env, const DiscoveryPass& pass) {
  return Object(env)
      .set("totalNs", pass.total_ns)
      .set("stepsNs", plain_numbers(env, {pass.steps_ns.begin(), pass.steps_ns.end()}));
}

}  // namespace

Napi::Value to_js(Napi::Env env, const Discovery& discovery) {
  auto functions = Napi::Array::New(env, kDiscoverySteps);
  for (uint32_t step = 0; step < kDiscoverySteps; ++step)
    functions[step] = static_cast<Napi::Value>(Object(env)
                                                   .set("name", function_of(static_cast<DiscoveryStep>(step)))
                                                   .set("owner", owner(env, discovery.owners[step]))
                                                   .set("intercepted", discovery.intercepted[step]));
  return Object(env)
      .set("loadNs", discovery.load_ns)
      .set("functions", functions)
      .set("first", to_js(env, discovery.first))
      .set("repeats", list(env, discovery.repeats, [&](const DiscoveryPass& pass) { return to_js(env, pass); }))
      .set("uuids", list(env, discovery.uuids, [&](const std::string& uuid) { return value(env, uuid); }));
}

namespace {

Napi::Value to_js(Napi::Env env, const std::optional<CodeInfo>& error) {
  if (!error) return env.Null();
  return Object(env).set("code", error->code).set("name", error->name).set("call", error->call);
}

Napi::Value to_js(Napi::Env env, const DeviceInfo& device) {
  constexpr const char* kModes[] = {"default", "exclusive-thread", "prohibited", "exclusive-process"};
  const bool known_mode = device.compute_mode && *device.compute_mode >= 0 && *device.compute_mode < 4;
  const auto flag = [](const std::optional<int>& number) {
    return number ? std::optional<bool>(*number != 0) : std::nullopt;
  };
  return Object(env)
      .set("index", device.index)
      .set("uuid", device.uuid)
      .set("name", device.name)
      .set("memoryBytes", device.memory_bytes)
      .set("visibleMemoryBytes", device.visible_memory_bytes)
      .set("computeCapability", std::to_string(device.major) + "." + std::to_string(device.minor))
      .set("multiprocessors", device.multiprocessors)
      .set("maxSmClockMhz", device.max_sm_clock_mhz)
      .set("pciBusId", device.pci_bus_id)
      .set("migMode", !device.mig_mode   ? "not supported"
                      : *device.mig_mode ? "enabled"
                                         : "disabled")
      .set("persistenceMode", flag(device.persistence_mode))
      .set("computeMode", known_mode ? value(env, kModes[*device.compute_mode]) : env.Null())
      .set("mpsClient", flag(device.mps_client));
}

}  // namespace

Napi::Value to_js(Napi::Env env, const ClockReading& reading) {
  const auto functions = list(env, reading.functions, [&](const TimeFunction& function) -> Napi::Value {
    return Object(env).set("name", function.name).set("owner", owner(env, function.owner)).set("own", function.own);
  });
  const auto rates = list(env, reading.rates, [&](const ClockRate& rate) -> Napi::Value {
    return Object(env)
        .set("clock", rate.clock)
        .set("libraryNs", rate.library_ns)
        .set("systemNs", rate.system_ns)
        .set("counterNs", rate.counter_ns)
        .set("bracketNs", rate.bracket_ns);
  });
  return Object(env)
      .set("functions", functions)
      .set("rates", rates)
      .set("counterUnused", owner(env, reading.counter_unused));
}

Napi::Value to_js(Napi::Env env, const Driver& driver, const Inspection& inspection) {
  return Object(env)
      .set("simulated", driver.simulated)
      .set("libcuda", driver.libcuda_path)
      .set("libnvidiaMl", driver.nvml.path)
      .set("driverVersion", inspection.driver_version)
      .set("cudaVersion", inspection.cuda_version)
      .set("cuda", to_js(env, inspection.cuda_error))
      .set("nvml", to_js(env, inspection.nvml_error))
      .set("devices", list(env, inspection.devices, [&](const DeviceInfo& device) { return to_js(env, device); }))
      .set("clock", to_js(env, inspection.clock));
}

namespace {

Napi::Value to_js(Napi::Env env, const PatchedCode& patch) {
  return Object(env).set("bytes", patch.bytes).set("owner", owner(env, patch.target_owner));
}

Napi::Value to_js(Napi::Env env, const LibcudaInfo& libcuda) {
  return Object(env)
      .set("loaded", libcuda.loaded)
      .set("driver", libcuda.driver)
      .set("simulated", libcuda.simulated)
      .set("kernelModule", libcuda.kernel_module)
      .set("carriesKernelVersion", libcuda.carries_kernel_version);
}

}  // namespace

Napi::Value to_js(Napi::Env env, const Provenance& provenance) {
  const auto functions = [&](const std::vector<FunctionOwners>& rows, std::initializer_list<SymbolPath> paths) {
    return list(env, rows, [&](const FunctionOwners& row) -> Napi::Value {
      Object owners(env);
      for (const SymbolPath path : paths)
        owners.set(to_string(path), owner(env, row.owners[static_cast<size_t>(path)]));
      Object function(env);
      function.set("name", row.name).set("owners", Napi::Value(owners));
      if (row.patch) function.set("patched", to_js(env, *row.patch));
      return function;
    });
  };
  return Object(env)
      .set("functions", functions(provenance.cuda,
                                  {SymbolPath::kRuntime, SymbolPath::kDlsym, SymbolPath::kLinked, SymbolPath::kBare}))
      .set("nvml", functions(provenance.nvml, {SymbolPath::kDlsym, SymbolPath::kBare}))
      .set("objects", list(env, provenance.objects,
                           [&](const MappedObject& object) -> Napi::Value {
                             return Object(env)
                                 .set("path", object.path)
                                 .set("cudaExports", object.cuda_exports)
                                 .set("exportsDlsym", object.exports_dlsym)
                                 .set("exportsInit", object.exports_init);
                           }))
      .set("codeUnreadable", owner(env, provenance.code_unreadable))
      .set("libcuda", to_js(env, provenance.libcuda));
}

}  // namespace gvb
