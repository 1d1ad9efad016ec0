// Sessions: turns on the device, and the end of what runs in one.
#include "addon/functions.h"
#include "addon/promises.h"

namespace gvb {

namespace {

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

}  // namespace

std::vector<ExportedFunction> session_functions() {
  return {{"openSession", open_session}, {"openTurn", open_turn}, {"closeSession", close_session}, {"cancel", cancel}};
}

}  // namespace gvb
