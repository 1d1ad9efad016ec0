// Promises whose work runs on the executor, with a session or without.
#pragma once

#include <napi.h>

#include <exception>
#include <memory>

#include "addon/arguments.h"
#include "addon/executor.h"
#include "addon/job.h"
#include "addon/to_js.h"

namespace gvb {

inline const std::shared_ptr<Environment>& environment_of(Napi::Env env) {
  return *env.GetInstanceData<std::shared_ptr<Environment>>();
}

inline Executor::Owner owner_of_environment(Napi::Env env) { return environment_of(env).get(); }

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

// What `measure` makes of a request, on the session named by the first argument.
template <class Request, class Result>
Napi::Value promise_in(const Napi::CallbackInfo& info, const Request& request,
                       Result (*measure)(DeviceSession&, const Request&)) {
  return promise_in<Result>(
      info, [request, measure](DeviceSession& session) { return measure(session, request); }, convert_result<Result>);
}

}  // namespace gvb
