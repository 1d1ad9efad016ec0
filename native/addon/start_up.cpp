// The start of a process, split into steps.
#include "addon/functions.h"
#include "addon/promises.h"

namespace gvb {

namespace {

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

}  // namespace

std::vector<ExportedFunction> start_up_functions() {
  return {{"startUp", start_up}, {"discovery", discovery}, {"keepContext", keep_context_of}};
}

}  // namespace gvb
