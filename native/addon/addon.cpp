// The module: its functions by topic, those that need neither driver nor executor, and the life of an environment.
#include <dlfcn.h>
#include <napi.h>
#include <sys/prctl.h>

#include <csignal>

#include "addon/executor.h"
#include "addon/functions.h"
#include "addon/job.h"
#include "addon/promises.h"
#include "addon/to_js.h"
#include "driver/clock.h"
#include "driver/clock_check.h"

namespace gvb {

namespace {

// Not by the executor, whose thread may be stuck in the driver: it takes no longer than the wait for its first 10 ms.
Napi::Value clock_reading(const Napi::CallbackInfo& info) { return to_js(info.Env(), read_clocks()); }

Napi::Value now(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), static_cast<double>(now_ns())); }

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

std::vector<ExportedFunction> process_functions() {
  return {{"clockReading", clock_reading}, {"now", now}, {"timer", timer}, {"dieWithParent", die_with_parent}};
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
  for (const auto& topic : {inspection_functions(), latency_functions(), session_functions(), start_up_functions(),
                            tenant_functions(), process_functions()})
    for (const auto& [name, function] : topic) exports.Set(name, Napi::Function::New(env, function, name));
  return exports;
}

}  // namespace

NODE_API_MODULE(gpu_virt_bench, init)

}  // namespace gvb
