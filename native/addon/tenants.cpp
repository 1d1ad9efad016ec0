// What tenants do beside one another.
#include "addon/functions.h"
#include "addon/promises.h"

namespace gvb {

namespace {

Napi::Value compute_share(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const ComputeShareRequest request{fields.positive<unsigned>("durationMs"),      fields.integer<unsigned>("blocks"),
                                    fields.positive<unsigned>("threadsPerBlock"), fields.positive<uint64_t>("spinNs"),
                                    fields.positive<unsigned>("inFlight"),        fields.positive<unsigned>("binMs")};
  return promise_in(info, request, measure_compute_share);
}

Napi::Value window(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const WindowRequest request{fields.choice<WindowOperation>("operation", {"allocFree", "memGetInfo", "launch"}),
                              fields.integer<size_t>("bytes"),
                              fields.time_ns("startAtNs"),
                              fields.integer<int64_t>("windowNs"),
                              fields.integer<unsigned>("warmup"),
                              fields.positive<size_t>("mostSamples")};
  return promise_in(info, request, measure_window);
}

Napi::Value work(const Napi::CallbackInfo& info) {
  const Fields fields(info[1]);
  const WorkRequest request{fields.integer<unsigned>("warmupMs"), fields.positive<unsigned>("windowMs")};
  return promise_in(info, request, measure_work);
}

}  // namespace

std::vector<ExportedFunction> tenant_functions() {
  return {{"computeShare", compute_share}, {"window", window}, {"work", work}};
}

}  // namespace gvb
