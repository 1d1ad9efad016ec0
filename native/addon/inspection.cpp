// What a process finds out about driver, GPU and layer.
#include <system_error>

#include "addon/functions.h"
#include "addon/promises.h"
#include "driver/driver_probe.h"

namespace gvb {

namespace {

Napi::Value driver_probe(const Napi::CallbackInfo& info) {
  try {
    const auto patience = static_cast<int64_t>(Fields(info[0]).number("timeoutMs"));
    const DriverProbe probe = probe_driver(std::chrono::milliseconds{patience});
    Napi::Object out = Napi::Object::New(info.Env());
    out.Set("path", probe.path ? Napi::Value(Napi::String::New(info.Env(), *probe.path)) : info.Env().Null());
    out.Set("error", probe.path ? info.Env().Null() : Napi::Value(Napi::String::New(info.Env(), probe.error)));
    out.Set("fatal", probe.fatal);
    return out;
  } catch (const std::system_error& error) {
    throw Napi::Error::New(info.Env(), std::string("The driver cannot be looked for: ") + error.what());
  }
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

}  // namespace

std::vector<ExportedFunction> inspection_functions() {
  return {{"probeDriver", driver_probe},
          {"inspect", inspect_driver},
          {"provenance", read_provenance},
          {"gpuState", gpu_state},
          {"health", health},
          {"scheduling", scheduling},
          {"visibleMemory", visible_memory_of},
          {"probeLayer", layer_probe}};
}

}  // namespace gvb
