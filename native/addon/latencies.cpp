// How long driver calls take.
#include "addon/functions.h"
#include "addon/promises.h"

namespace gvb {

namespace {

Napi::Value launch_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const LaunchRequest request{
      fields.choice<LaunchCall>("call", {"cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch"}),
      fields.integer<unsigned>("count"), fields.integer<unsigned>("warmup"), fields.integer<uint64_t>("seed"),
      fields.integer<uint64_t>("core")};
  return promise_in(info, request, measure_launches);
}

Napi::Value allocation_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const AllocationRequest request{fields.choice<AllocationApi>("api", {"cuMemAlloc", "cuMemCreate", "cuMemAllocAsync"}),
                                  fields.integer<size_t>("bytes"), fields.integer<unsigned>("live"),
                                  fields.integer<unsigned>("count"), fields.integer<unsigned>("warmup")};
  return promise_in(info, request, measure_allocations);
}

Napi::Value free_block(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const FreeRequest request{fields.integer<size_t>("bytes"),
                            fields.positive<unsigned>("live"),
                            fields.choice<FreeOrder>("order", {"fifo", "lifo", "random"}),
                            fields.integer<unsigned>("count"),
                            fields.integer<unsigned>("warmup"),
                            fields.integer<uint64_t>("seed")};
  return promise_in(info, request, measure_frees);
}

Napi::Value live_sets(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const LiveSetRequest request{fields.positive<size_t>("bytes"),    fields.integers("lives"),
                               fields.positive<unsigned>("count"),  fields.integer<unsigned>("warmup"),
                               fields.integer<unsigned>("queries"), fields.integer<uint64_t>("seed"),
                               fields.integer<uint64_t>("core")};
  return promise_in(info, request, measure_live_sets);
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
  return promise_in(info, request, measure_paced_launches);
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
  return promise_in(info, request, measure_pair);
}

}  // namespace

std::vector<ExportedFunction> latency_functions() {
  return {{"launchBlock", launch_block},     {"allocationBlock", allocation_block},
          {"freeBlock", free_block},         {"liveSets", live_sets},
          {"pacedLaunches", paced_launches}, {"doubleFree", double_free},
          {"pairFunctions", pair_functions}, {"pairBlock", pair_block}};
}

}  // namespace gvb
