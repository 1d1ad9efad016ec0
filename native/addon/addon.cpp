// The module: exports the functions of all topics and its own description, and manages the life of an environment.
#include <dlfcn.h>
#include <napi.h>

#include "addon/executor.h"
#include "addon/gpu_monitor.h"
#include "addon/job.h"
#include "addon/topic.h"
#include "driver/clock_check.h"

namespace gvb {

namespace {

// Node unloads an addon with the last environment that loaded it. A driver call may still be stuck inside it and would
// return into unmapped code.
void stay_loaded() {
  Dl_info own;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &own) != 0 && own.dli_fname)
    dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

Napi::Function exported(Napi::Env env, const Function& function) {
  return Napi::Function::New(
      env,
      [call = function.call](const Napi::CallbackInfo& info) {
        js::Call arguments{info.Env(), {}};
        for (size_t i = 0; i < info.Length(); ++i) arguments.arguments.push_back(info[i]);
        try {
          return Napi::Value(info.Env(), call(arguments));
        } catch (const Napi::Error&) {
          throw;
        } catch (const std::exception& failure) {
          throw Napi::Error::New(info.Env(), failure.what());
        }
      },
      function.name);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  stay_loaded();
  begin_clock_check();
  env.SetInstanceData(new std::shared_ptr<Environment>(std::make_shared<Environment>()));
  const std::shared_ptr<Environment> environment = environment_of(env);
  Executor::instance().attach(environment.get());
  env.AddCleanupHook([environment] {
    stop_monitors_of(environment.get());
    Executor::instance().detach(environment.get());
    const std::lock_guard<std::mutex> lock(environment->mutex);
    environment->alive = false;
  });
  for (const Topic* topic : Topic::all())
    for (const Function& function : topic->functions) exports.Set(function.name, exported(env, function));
  return exports;
}

}  // namespace

NODE_API_MODULE(gpu_virt_bench, init)

}  // namespace gvb
